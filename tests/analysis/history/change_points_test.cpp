#include "analysis/history/history.hpp"

#include <gmock/gmock.h>

#include <random>

namespace collbench::analysis::change_points_test {
namespace {

using testing::IsEmpty;

std::vector<double> levels(std::initializer_list<std::pair<std::size_t, double>> parts, double spread) {
  std::mt19937_64 random(7);
  std::vector<double> values;
  for (const auto& [count, level] : parts) {
    for (std::size_t i = 0; i < count; ++i)
      values.push_back(level * (1 + spread * (static_cast<double>(random() % 2001) / 1000 - 1)));
  }
  return values;
}

TEST(ChangePoints, AreWhereTheLevelChanges) {
  const auto found = change_points(levels({{20, 100}, {20, 120}, {20, 90}}, 0.02), {});
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].at, 20U);
  EXPECT_NEAR(found[0].ratio, 1.2, 0.02);
  EXPECT_EQ(found[1].at, 40U);
  EXPECT_NEAR(found[1].ratio, 0.75, 0.02);
}

TEST(ChangePoints, ElevenValuesOfTwoLevelsAreEnoughAndTenAreNot) {
  EXPECT_EQ(change_points(levels({{5, 100}, {6, 120}}, 0.01), {}).size(), 1U);
  EXPECT_THAT(change_points(levels({{5, 100}, {5, 120}}, 0.01), {}), IsEmpty());
}

TEST(ChangePoints, AFewWildNightsAreNoLevel) {
  std::vector<double> values = levels({{40, 100}}, 0.02);
  values[7] = values[20] = values[33] = 500;
  EXPECT_THAT(change_points(values, {}), IsEmpty());
}

TEST(ChangePoints, LessThanTheLeastChangeIsNone) {
  EXPECT_THAT(change_points(levels({{20, 100}, {20, 102}}, 0.001), {}), IsEmpty());
  EXPECT_EQ(change_points(levels({{20, 100}, {20, 102}}, 0.001), {.min_change = 0.01}).size(), 1U);
}

TEST(ChangePoints, WithoutAChangeFewSeriesShowOne) {
  std::mt19937_64 random(1);
  int shown = 0;
  constexpr int kSeries = 1000;
  for (int series = 0; series < kSeries; ++series) {
    std::vector<double> values;
    for (int i = 0; i < 40; ++i) values.push_back(100 + static_cast<double>(random() % 1000) / 10);
    shown += change_points(values, {.min_change = 0}).empty() ? 0 : 1;
  }
  EXPECT_LE(shown, kSeries / 20) << "significance is 5 %, and Pettitt's formula is on the safe side";
}

TEST(ChangePoints, AsManyValuesAsAreNeededShowAChangeAndOneFewerCannot) {
  for (const double significance : {0.05, 0.005}) {
    const std::size_t needed = values_to_see_a_change(significance);
    for (const std::size_t count : {needed - 1, needed}) {
      std::vector<double> values(count / 2, 100);
      values.resize(count, 300);
      EXPECT_EQ(change_points(values, {.significance = significance}).size(), count == needed ? 1U : 0U);
    }
  }
}

TEST(ChangePoints, FewOrNoValuesHaveNone) {
  EXPECT_THAT(change_points({}, {}), IsEmpty());
  EXPECT_THAT(change_points({1, 2, 3}, {}), IsEmpty());
  EXPECT_THAT(change_points(std::vector<double>(50, 3.0), {}), IsEmpty());
}

}  // namespace
}  // namespace collbench::analysis::change_points_test
