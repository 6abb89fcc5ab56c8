#include "analysis/models/alpha_beta_fit.hpp"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "base/error.hpp"

namespace collbench::analysis::alpha_beta_fit_test {
namespace {

std::vector<TimePoint> line(double alpha, double bytes_per_second, const std::vector<double>& sizes) {
  std::vector<TimePoint> points;
  for (const double bytes : sizes) {
    points.push_back({.bytes = bytes, .seconds = alpha + bytes / bytes_per_second});
  }
  return points;
}

TEST(FitAlphaBeta, FindsTheLineThatThePointsLieOn) {
  const AlphaBetaFit fit = fit_alpha_beta(line(2e-6, 50e9, {8, 1024, 65536, 1 << 20, 32 << 20}));
  EXPECT_NEAR(fit.alpha_seconds, 2e-6, 1e-15);
  EXPECT_NEAR(fit.bytes_per_second, 50e9, 1);
  EXPECT_NEAR(fit.r_squared, 1, 1e-12);
  EXPECT_LT(fit.max_relative_error, 1e-9);
}

TEST(FitAlphaBeta, TwoPointsDetermineIt) {
  const AlphaBetaFit fit = fit_alpha_beta(line(1e-3, 1e6, {1, 1000}));
  EXPECT_NEAR(fit.alpha_seconds, 1e-3, 1e-12);
  EXPECT_NEAR(fit.bytes_per_second, 1e6, 1e-3);
}

TEST(FitAlphaBeta, EverySizeWeighsTheSame) {
  // 10 % more on the small and on the large point: absolute squares would follow the large one only.
  auto points = line(1e-6, 1e9, {8, 16, 32, 64 << 20});
  for (TimePoint& point : points) point.seconds *= 1.1;
  const AlphaBetaFit fit = fit_alpha_beta(points);
  EXPECT_NEAR(fit.alpha_seconds, 1.1e-6, 1e-9);
  EXPECT_NEAR(fit.bytes_per_second, 1e9 / 1.1, 1e6);
}

TEST(FitAlphaBeta, NamesItsLargestRelativeError) {
  // The best line for three points of one size that took 1, 1 and 1.3 and one far away goes between.
  const std::vector<TimePoint> points{{1, 1}, {1, 1.25}, {1e6, 1e6}};
  const AlphaBetaFit fit = fit_alpha_beta(points);
  EXPECT_GT(fit.max_relative_error, 0.09);
  EXPECT_LT(fit.max_relative_error, 0.13);
  EXPECT_LT(fit.r_squared, 1);
}

TEST(FitAlphaBeta, NoiseThatMakesAlphaNegativeGivesZero) {
  const std::vector<TimePoint> points{{1000, 0.9e-6}, {2000, 2e-6}, {4000, 4.1e-6}};
  const AlphaBetaFit fit = fit_alpha_beta(points);
  EXPECT_EQ(fit.alpha_seconds, 0);
  EXPECT_NEAR(fit.bytes_per_second, 1e9, 0.05e9);
}

TEST(FitAlphaBeta, SaysWhatCannotBeFitted) {
  const auto fit = [](const std::vector<TimePoint>& points) { return fit_alpha_beta(points); };
  EXPECT_THROW(static_cast<void>(fit({})), Error);
  EXPECT_THROW(static_cast<void>(fit({{8, 1e-6}})), Error);
  EXPECT_THROW(static_cast<void>(fit({{8, 1e-6}, {8, 2e-6}})), Error);        // one size
  EXPECT_THROW(static_cast<void>(fit({{8, 0}, {16, 1e-6}})), Error);          // no time
  EXPECT_THROW(static_cast<void>(fit({{8, 2e-6}, {1 << 20, 1e-6}})), Error);  // faster when larger
}

TEST(FitAlphaBeta, NineteenOfTwentyIntervalsHoldTheTruth) {
  std::mt19937 random(7);
  std::normal_distribution<double> noise(1, 0.03);
  int alpha_held = 0;
  int rate_held = 0;
  constexpr int kRuns = 400;
  for (int run = 0; run < kRuns; ++run) {
    std::vector<TimePoint> points;
    for (double bytes = 8; bytes < 1e9; bytes *= 8) {
      points.push_back({bytes, (20e-6 + bytes / 1e11) * noise(random)});
    }
    const AlphaBetaFit fit = fit_alpha_beta(points);
    alpha_held += fit.alpha_interval->low <= 20e-6 && 20e-6 <= fit.alpha_interval->high ? 1 : 0;
    rate_held += fit.rate_interval->low <= 1e11 && 1e11 <= fit.rate_interval->high ? 1 : 0;
  }
  EXPECT_NEAR(alpha_held, 0.95 * kRuns, 20);
  EXPECT_NEAR(rate_held, 0.95 * kRuns, 20);
}

TEST(FitAlphaBeta, HalfOfTheRateIsReachedWhereTheBytesTakeAsLongAsAlpha) {
  const AlphaBetaFit fit = fit_alpha_beta(std::vector<TimePoint>{{8, 10e-6 + 8e-9}, {1e6, 10e-6 + 1e-3}});
  EXPECT_NEAR(fit.half_rate_bytes(), 1e4, 1);
  EXPECT_FALSE(fit.rate_interval);  // two points leave nothing to judge by
}

TEST(CrossoverBytes, IsWhereTheLinesMeet) {
  const AlphaBetaFit tree{.alpha_seconds = 10e-6, .bytes_per_second = 1e9};
  const AlphaBetaFit ring{.alpha_seconds = 110e-6, .bytes_per_second = 2e9};
  EXPECT_NEAR(*crossover_bytes(tree, ring), 200e3, 1e-6);
  EXPECT_FALSE(crossover_bytes(ring, tree));
  EXPECT_FALSE(crossover_bytes(ring, ring));
}

}  // namespace
}  // namespace collbench::analysis::alpha_beta_fit_test
