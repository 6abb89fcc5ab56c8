#include "base/statistics.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <vector>

namespace collbench::autocorrelation_test {
namespace {

TEST(SerialOrder, AlikeNeighborsAreUnlikelyAndSoIsNothingElse) {
  std::vector<double> rising(16);
  std::iota(rising.begin(), rising.end(), 1.0);
  EXPECT_LT(probability_of_smooth_order(rising), 1e-4);
  EXPECT_LT(probability_of_smooth_order(
                std::vector<double>{1, 3, 2, 4, 2, 3, 1, 4, 11, 13, 12, 14, 12, 13, 11, 14}),
            0.01)
      << "two states";
  EXPECT_GT(probability_of_smooth_order(std::vector<double>{1, 9, 2, 8, 3, 7, 4, 6, 5, 10}), 0.9)
      << "unlike neighbors";
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

TEST(AutocorrelationTime, IsOfRanksAndByHand) {
  // Ranks less their mean −2 −1 0 1 2, squares 10. Products at lags 1 to 4: 4, −1, −4, −4; less what random
  // order has, −4/20 to −1/20 of the squares: ρ = 0.6, 0.05, … and lags 2 and 3 are a pair below 0.
  EXPECT_NEAR(autocorrelation_time(std::vector<double>{1, 2, 30, 400, 5000}), 2 * (1 + 0.6) - 1, 1e-12);
}

TEST(AutocorrelationTime, APairOfLagsCountsAtMostAsItsPredecessor) {
  // By fractions: the pairs of lags are 11/12, 1/14, 19/84 (cut to 1/14), −3/14.
  EXPECT_NEAR(autocorrelation_time(std::vector<double>{4, 8, 7, 2, 5, 3, 6, 1}),
              2 * (11.0 / 12 + 1.0 / 14 + 1.0 / 14) - 1, 1e-12);
}

TEST(AutocorrelationTime, IsOneOfWhatSaysAllOrNothing) {
  EXPECT_EQ(autocorrelation_time(std::vector<double>{1, 9, 2, 8, 3, 7, 4, 6}), 1)
      << "unlike neighbors tell no more";
  EXPECT_EQ(autocorrelation_time(std::vector<double>(9, 1.0)), 1);
  EXPECT_EQ(autocorrelation_time(std::vector<double>{1, 2}), 1);
  EXPECT_EQ(autocorrelation_time({}), 1);
}

/// The mean over rows of 200 values, each `next` of the one before.
template <typename Next>
double mean_time(const Next& next) {
  constexpr int kRows = 200;
  double sum = 0;
  for (int row = 0; row < kRows; ++row) {
    std::vector<double> values{next(0.0)};
    while (values.size() < 200) values.push_back(next(values.back()));
    sum += autocorrelation_time(values);
  }
  return sum / kRows;
}

TEST(AutocorrelationTime, IsThatOfProcessesWithAKnownOne) {
  std::mt19937_64 random(3);
  std::normal_distribution<double> noise;
  EXPECT_NEAR(mean_time([&](double) { return noise(random); }), 1.2, 0.2) << "never below 1";
  for (const double rho : {0.3, 0.6, 0.8}) {  // an autoregression has (1 + ρ)/(1 − ρ)
    const double known = (1 + rho) / (1 - rho);
    EXPECT_NEAR(mean_time([&](double before) { return rho * before + noise(random); }), known, 0.25 * known)
        << rho;
  }
}

TEST(AutocorrelationTime, SeesStatesThatLastThroughNoise) {
  // Two states, left with a chance of 1/20, under noise as large as their distance: ρ = 0.2 · 0.9^lag, so
  // that τ is 1 + 2 · 0.2 · 0.9/(1 − 0.9) = 4.6, of which neighbors alone (ρ = 0.18) would tell 1.4.
  std::mt19937_64 random(5);
  std::normal_distribution<double> noise;
  std::bernoulli_distribution leaves(0.05);
  double state = 0;
  EXPECT_GT(mean_time([&](double) {
              if (leaves(random)) state = 1 - state;
              return state + noise(random);
            }),
            2.5);
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
}  // namespace collbench::autocorrelation_test
