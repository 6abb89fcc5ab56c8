#include "base/serial_order.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <vector>

namespace collbench {
namespace {

TEST(SerialOrder, AlikeNeighboursAreUnlikelyAndSoIsNothingElse) {
  std::vector<double> rising(16);
  std::iota(rising.begin(), rising.end(), 1.0);
  EXPECT_LT(probability_of_smooth_order(rising), 1e-4);
  EXPECT_LT(probability_of_smooth_order(
                std::vector<double>{1, 3, 2, 4, 2, 3, 1, 4, 11, 13, 12, 14, 12, 13, 11, 14}),
            0.01)
      << "two states";
  EXPECT_GT(probability_of_smooth_order(std::vector<double>{1, 9, 2, 8, 3, 7, 4, 6, 5, 10}), 0.9)
      << "unlike neighbours";
}

TEST(SerialOrder, SaysNothingOfFewOrOfEqualValues) {
  EXPECT_FALSE(probability_of_smooth_order(std::vector<double>{1, 2, 3, 4, 5, 6, 7}));
  EXPECT_FALSE(probability_of_smooth_order(std::vector<double>(20, 1.0)));
  EXPECT_TRUE(probability_of_smooth_order(std::vector<double>{1, 2, 3, 4, 5, 6, 7, 8}));
}

TEST(SerialOrder, OnlyTheOrderOfSizesCounts) {
  const std::vector<double> values{3, 1, 4, 15, 9, 2, 6, 5, 35, 8};
  std::vector<double> others;
  for (const double value : values) others.push_back(std::exp(value));
  EXPECT_EQ(probability_of_smooth_order(values), probability_of_smooth_order(others));
}

TEST(SerialOrder, TheCorrelationOfNeighboursIsThatOfRanks) {
  // Ranks less their mean: −2 −1 0 1 2, products of neighbours 2 + 0 + 0 + 2 over squares 10; plus 1/5.
  EXPECT_NEAR(neighbour_correlation(std::vector<double>{1, 2, 30, 400, 5000}), 0.6, 1e-12);
  EXPECT_EQ(neighbour_correlation(std::vector<double>{1, 9, 2, 8, 3, 7, 4, 6}), 0)
      << "unlike neighbours tell no more";
  EXPECT_EQ(neighbour_correlation(std::vector<double>(9, 1.0)), 0);
  EXPECT_EQ(neighbour_correlation(std::vector<double>{1, 2}), 0);
  std::vector<double> rising(1000);
  std::iota(rising.begin(), rising.end(), 1.0);
  EXPECT_EQ(neighbour_correlation(rising), 0.9) << "at most";
}

/// In how many of so many shuffles it says at most `level`.
double share_below(double level, std::size_t count) {
  std::mt19937 generator(7);
  std::vector<double> values(count);
  std::iota(values.begin(), values.end(), 0.0);
  int below = 0;
  constexpr int kShuffles = 20'000;
  for (int i = 0; i < kShuffles; ++i) {
    std::shuffle(values.begin(), values.end(), generator);
    below += *probability_of_smooth_order(values) <= level ? 1 : 0;
  }
  return static_cast<double>(below) / kShuffles;
}

TEST(SerialOrder, RandomOrdersLookSmoothNoOftenerThanItSays) {
  for (const std::size_t count : {8U, 12U, 30U}) {
    for (const double level : {0.001, 0.01, 0.05}) {
      EXPECT_LT(share_below(level, count), 1.2 * level) << level << " of " << count;
    }
  }
  EXPECT_GT(share_below(0.05, 30), 0.04) << "nor much seldomer";
}

}  // namespace
}  // namespace collbench
