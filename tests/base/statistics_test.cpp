#include "base/statistics.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <numbers>
#include <numeric>
#include <random>
#include <vector>

namespace collbench::statistics_test {
namespace {

/// 1, 2, …, n: the value at a rank is the rank.
std::vector<double> ranks_up_to(std::size_t n) {
  std::vector<double> values(n);
  std::iota(values.begin(), values.end(), 1.0);
  return values;
}

/// P(Bin(n, ½) ≤ k), by summing binomial coefficients: n ≤ 64 keeps them within 64 bits.
double binomial_tail(std::uint64_t n, std::uint64_t k) {
  double coefficient = 1;
  double sum = 0;
  for (std::uint64_t i = 0; i <= k; ++i) {
    sum += coefficient;
    coefficient = coefficient * static_cast<double>(n - i) / static_cast<double>(i + 1);
  }
  return std::ldexp(sum, -static_cast<int>(n));
}

TEST(Median, IsTheMiddleOrTheMeanOfTheTwoMiddles) {
  EXPECT_EQ(median({7}), 7);
  EXPECT_EQ(median({3, 1, 2}), 2);
  EXPECT_EQ(median({4, 1, 3, 2}), 2.5);
  EXPECT_EQ(median({2, 1}), 1.5);
}

TEST(Quantile, IsTheNearestRank) {
  EXPECT_EQ(quantile({30, 10, 20}, 0.5), 20);
  EXPECT_EQ(quantile({30, 10, 20}, 1), 30);
  EXPECT_EQ(quantile({30, 10, 20}, 0.001), 10);
  EXPECT_EQ(quantile({5}, 0.99), 5);
}

TEST(Quantile, TakesTheRankThatIntegersGive) {
  for (std::size_t n = 1; n <= 2000; ++n) {
    const std::size_t rank_95 = (95 * n + 99) / 100;
    const std::size_t rank_99 = (99 * n + 99) / 100;
    ASSERT_EQ(quantile(ranks_up_to(n), 0.95), static_cast<double>(rank_95)) << n;
    ASSERT_EQ(quantile(ranks_up_to(n), 0.99), static_cast<double>(rank_99)) << n;
  }
}

TEST(Mean, IsZeroForNothing) {
  EXPECT_EQ(mean({}), 0);
  EXPECT_EQ(mean(std::vector<double>{1, 2, 6}), 3);
}

TEST(CoefficientOfVariation, DividesByOneLess) {
  EXPECT_DOUBLE_EQ(coefficient_of_variation(std::vector<double>{1, 3}), std::sqrt(2.0) / 2);
  EXPECT_EQ(coefficient_of_variation(std::vector<double>{5, 5, 5}), 0);
}

TEST(CoefficientOfVariation, IsZeroWhereItHasNoMeaning) {
  EXPECT_EQ(coefficient_of_variation({}), 0);
  EXPECT_EQ(coefficient_of_variation(std::vector<double>{5}), 0);
  EXPECT_EQ(coefficient_of_variation(std::vector<double>{-1, 1}), 0);
}

TEST(MedianInterval, NeedsSixValuesAt95Percent) {
  EXPECT_FALSE(median_interval({}).has_value());
  EXPECT_FALSE(median_interval({1, 2, 3, 4, 5}).has_value());
  const auto six = median_interval({6, 1, 5, 2, 4, 3});
  ASSERT_TRUE(six.has_value());
  EXPECT_EQ(six->low, 1);
  EXPECT_EQ(six->high, 6);
  EXPECT_DOUBLE_EQ(six->confidence, 1 - 2.0 / 64);
}

TEST(MedianInterval, TakesTheInnermostOrderStatisticsThatHoldTheConfidence) {
  for (std::size_t n = 6; n <= 60; ++n) {
    const auto interval = median_interval(ranks_up_to(n));
    ASSERT_TRUE(interval.has_value()) << n;
    const auto l = static_cast<std::uint64_t>(interval->low);
    EXPECT_EQ(interval->high, static_cast<double>(n + 1 - l)) << n;
    EXPECT_LE(binomial_tail(n, l - 1), 0.025) << n;  // P(Bin < l)
    EXPECT_GT(binomial_tail(n, l), 0.025) << n;      // P(Bin < l + 1): one further in would be too tight
    EXPECT_NEAR(interval->confidence, 1 - 2 * binomial_tail(n, l - 1), 1e-12) << n;
  }
}

TEST(MedianInterval, WantsFewerValuesForLessConfidence) {
  EXPECT_FALSE(median_interval({1, 2, 3}, 0.8).has_value());
  EXPECT_TRUE(median_interval({1, 2, 3, 4}, 0.8).has_value());
}

// What the interval is for: it holds the true median at least as often as it says, whatever the distribution.
TEST(MedianInterval, HoldsTheMedianOfASkewedDistribution) {
  std::mt19937_64 generator(20250101);  // a fixed seed: the same draws on each run
  std::exponential_distribution<double> skewed(1.0);
  const double true_median = std::numbers::ln2;
  constexpr int kTrials = 4000;
  int held = 0;
  for (int trial = 0; trial < kTrials; ++trial) {
    std::vector<double> values(9);
    for (double& value : values) value = skewed(generator);
    const auto interval = median_interval(values);
    if (interval && interval->low <= true_median && true_median <= interval->high) ++held;
  }
  // n = 9 covers 0.9609; the standard deviation of the share over 4000 trials is 0.003.
  EXPECT_NEAR(static_cast<double>(held) / kTrials, 0.9609, 0.015);
}

TEST(MedianIntervalInTime, IsTheExactOneUnlessNeighborsAreAlike) {
  const std::vector<double> unlike{1, 12, 2, 11, 3, 10, 4, 9, 5, 8, 6, 7};
  const auto exact = median_interval(unlike);
  const auto same = median_interval_in_time(unlike);
  EXPECT_EQ(same->low, exact->low);
  EXPECT_EQ(same->high, exact->high);
  const std::vector<double> rising = ranks_up_to(12);  // as many values, the same but for their order
  const auto wider = median_interval_in_time(rising);
  EXPECT_EQ(wider->low, 1);
  EXPECT_EQ(wider->high, 12);
  EXPECT_EQ(wider->confidence, exact->confidence);
  EXPECT_FALSE(median_interval_in_time(ranks_up_to(5)));
  EXPECT_FALSE(median_interval_in_time({}));
}

TEST(MedianIntervalInTime, GoesAsFarOutAsTheCorrelationSays) {
  // 40 values in 20 pairs of neighbors, the pairs in an order that tells nothing: about half of a value is
  // known from its neighbor.
  std::vector<double> values;
  for (int pair = 0; pair < 20; ++pair) {
    const double shuffled = pair * 7 % 20;
    values.push_back(2 * shuffled);
    values.push_back(2 * shuffled + 1);
  }
  const auto exact = median_interval(values);
  const auto wider = median_interval_in_time(values);
  EXPECT_LT(wider->low, exact->low);
  EXPECT_GT(wider->high, exact->high);
  EXPECT_GT(wider->low, 0) << "not the whole range";
  EXPECT_EQ(wider->low + wider->high, 39) << "as far below the middle as above";
}

TEST(VarianceParts, AreTheOnesThatTheValuesWereDrawnWith) {
  std::mt19937_64 random(1);
  std::normal_distribution<double> launch(100, 6);
  std::normal_distribution<double> pass(0, 4);
  std::vector<std::vector<double>> groups(4000);
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const double own = launch(random);
    for (std::size_t j = 0; j < 2 + i % 9; ++j) groups[i].push_back(own + pass(random));
  }
  const auto parts = variance_parts(groups);
  ASSERT_TRUE(parts);
  EXPECT_NEAR(parts->within, 4, 0.1);
  EXPECT_NEAR(parts->between, 6, 0.25);
}

TEST(VarianceParts, NoPartIsBelowZeroAndTooLittleIsNotGuessed) {
  const auto alike = variance_parts({{1, 3}, {1, 3}, {3, 1}});
  ASSERT_TRUE(alike);
  EXPECT_DOUBLE_EQ(alike->between, 0);
  EXPECT_DOUBLE_EQ(alike->within, std::sqrt(2.0));
  EXPECT_FALSE(variance_parts({{1, 2, 3}}));
  EXPECT_FALSE(variance_parts({{1}, {2}}));
}

TEST(PopulationLine, TheLineIsAPercentWhereAllAreAlike) {
  EXPECT_DOUBLE_EQ(population_line({0, 0, 0, 0}), 0.01);
  EXPECT_DOUBLE_EQ(population_line({-0.02, -0.01, 0, 0.01, 0.02}), 6 * 1.4826 * 0.01);
  EXPECT_DOUBLE_EQ(population_line({}), 0.01);
}

}  // namespace
}  // namespace collbench::statistics_test
