#include "base/state_boundaries.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace collbench::separate_groups_test {
namespace {

using ::testing::DoubleNear;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// `count` values between `low` and `high`, evenly on a logarithmic scale.
void add_spread(std::vector<double>& values, double low, double high, int count) {
  for (int i = 0; i < count; ++i) values.push_back(low * std::pow(high / low, i / (count - 1.0)));
}

TEST(SeparateGroups, TheThreeStatesOfAVirtualMachineAreFound) {
  // Round trips in ns of 85 probes, as ranges of the three groups (29, 35, 21 probes).
  std::vector<double> values;
  add_spread(values, 66, 126, 29);
  add_spread(values, 175, 329, 35);
  add_spread(values, 1131, 2250, 21);
  const std::vector<double> boundaries = group_boundaries(values);
  EXPECT_THAT(boundaries,
              ElementsAre(DoubleNear(std::sqrt(126 * 175), 0.1), DoubleNear(std::sqrt(329 * 1131), 0.1)));
  EXPECT_EQ(group_of(126, boundaries), 0U);
  EXPECT_EQ(group_of(175, boundaries), 1U);
  EXPECT_EQ(group_of(1131, boundaries), 2U);
}

TEST(SeparateGroups, WhatIsNoGroup) {
  EXPECT_THAT(group_boundaries({}), IsEmpty());
  EXPECT_THAT(group_boundaries({1, 1, 1, 1, 1, 2, 2, 2, 2}), IsEmpty())
      << "four values may be disturbed ones";
  EXPECT_THAT(group_boundaries({1, 1, 1, 1, 1, 2, 2, 2, 2, 2}), ElementsAre(DoubleNear(std::sqrt(2), 1e-9)));
  EXPECT_THAT(group_boundaries({1, 1, 1, 1, 1, 1.19, 1.19, 1.19, 1.19, 1.19}), IsEmpty())
      << "less than a factor of 1.2";
  EXPECT_THAT(group_boundaries({0, 0, 0, 0, 0, -1, 1, 1, 1, 1, 1}), IsEmpty()) << "0 is: not known";
  EXPECT_THAT(group_boundaries({1, 1.4, 2, 2.7, 3.8, 5.3, 7.5, 10.5, 14.7, 20}), IsEmpty())
      << "a gap as wide as those within the groups";
  std::vector<double> values(100, 1.0);
  values.insert(values.end(), 5, 9.0);
  EXPECT_THAT(group_boundaries(values), IsEmpty()) << "5 of 105 are fewer than a twentieth";
  values.push_back(9);
  EXPECT_THAT(group_boundaries(values), ElementsAre(DoubleNear(3, 1e-9)));
}

TEST(SeparateGroups, OneStateIsNeverTwo) {
  std::mt19937_64 random(20);
  for (int machine = 0; machine < 2000; ++machine) {
    const double spread = 0.02 * static_cast<double>(1 + machine % 10);  // log standard deviation to 20 %
    std::lognormal_distribution<double> round_trip(std::log(100.0), spread);
    std::vector<double> values(static_cast<std::size_t>(16 + machine % 300));
    for (double& value : values) value = round_trip(random);
    // Now and then something else ran for as long as a probe takes.
    for (std::size_t i = 0; i < values.size(); i += 40) values[i] *= 5;
    EXPECT_THAT(group_boundaries(values), IsEmpty()) << spread << ", " << values.size();
  }
}

}  // namespace
}  // namespace collbench::separate_groups_test
