#include "collectives/engine/measurement_loop.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>

#include "base/statistics.hpp"

namespace collbench::collectives::stopping_test {
namespace {

TEST(Stopping, TightPassesStopAtEight) {
  const StoppingRule rule;
  std::vector<double> passes(7, 1.0);
  EXPECT_EQ(stop_reason(rule, passes, passes.size()), std::nullopt);
  passes.push_back(1.0);
  EXPECT_EQ(stop_reason(rule, passes, passes.size()), Stop{StopReason::precision_reached});
}

TEST(Stopping, WidePassesGoOnToTheMost) {
  const StoppingRule rule;
  std::vector<double> passes;
  for (int i = 0; i < 63; ++i) passes.push_back(i % 2 == 0 ? 1.0 : 2.0);
  EXPECT_EQ(stop_reason(rule, passes, passes.size()), std::nullopt);
  passes.push_back(2.0);
  EXPECT_EQ(stop_reason(rule, passes, passes.size()), (Stop{StopReason::pass_limit, 64}));
}

TEST(Stopping, TheWidthIsHalfTheIntervalOverTheMedian) {
  // With n = 8 the interval runs from the smallest to the largest.
  EXPECT_NEAR(relative_half_width({0.9, 1, 1, 1, 1, 1, 1, 1.1}), 0.1, 1e-12);
  EXPECT_TRUE(std::isinf(relative_half_width({1, 1, 1, 1, 1})));
  EXPECT_EQ(relative_half_width(std::vector<double>(8, 0.0)), 0);
}

TEST(Stopping, ExactlyNPasses) {
  const StoppingRule rule{.precision = 0.05, .passes = FixedPasses{1}};
  EXPECT_NE(stop_reason(rule, {1.0}, 1), std::nullopt);
}

/// No two probes are alike: what is, is one probe.
void add_pass(RowPasses& row, double seconds, double round_trip_seconds) {
  row.seconds.push_back(seconds);
  row.round_trip_seconds.push_back(round_trip_seconds * (1 + 1e-9 * static_cast<double>(row.seconds.size())));
}

TEST(CountedPasses, AreThoseInTheCommonestStateOfAllRows) {
  std::vector<RowPasses> rows(2);
  for (int i = 0; i < 12; ++i) add_pass(rows[0], i < 7 ? 1 : 3, i < 7 ? 110e-9 : 530e-9);
  add_pass(rows[1], 9, 530e-9);
  CountedPasses counted;
  EXPECT_EQ(counted.of(rows[0]).size(), 12U) << "before anybody looked";
  counted.update(rows);
  EXPECT_EQ(counted.of(rows[0]), std::vector<double>(7, 1.0));
  EXPECT_EQ(counted.of(rows[1]), std::vector<double>{9}) << "it has none in the commonest";
  for (int i = 0; i < 8; ++i) add_pass(rows[0], 3, 530e-9);
  counted.update(rows);
  EXPECT_EQ(counted.of(rows[0]), std::vector<double>(13, 3.0)) << "another state has become the commonest";
}

TEST(CountedPasses, AreAllWhereNobodyProbed) {
  const RowPasses row{.seconds = {1, 3, 1, 3}, .round_trip_seconds = {0, 0, 0, 0}};
  CountedPasses counted;
  counted.update({row});
  EXPECT_EQ(counted.of(row), row.seconds);
}

TEST(Stopping, PassesInOtherStatesCountForTheMostOnly) {
  EXPECT_EQ(stop_reason({}, std::vector<double>(7, 1.0), 63), std::nullopt);
  EXPECT_EQ(stop_reason({}, std::vector<double>(5, 1.0), 64), (Stop{StopReason::pass_limit, 64}));
  EXPECT_EQ(stop_reason({}, std::vector<double>(8, 1.0), 20), Stop{StopReason::precision_reached});
}

using Random = std::mt19937_64;
/// One pass's time, given its index.
using Distribution = std::function<double(Random&, int)>;

struct Outcome {
  double coverage = 0;  ///< share of rows whose interval holds the median
  double passes = 0;    ///< per row
  double reached = 0;   ///< share of rows that reached the precision
};

/// Rows measured by the rule until it stops them, and how often their interval holds `median`.
using Interval = std::optional<MedianInterval>(std::vector<double>, double);

Outcome measured(const StoppingRule& rule, const Distribution& draw, double median,
                 Interval& interval_of = median_interval_in_time) {
  constexpr int kRows = 2000;
  Random random(11);
  Outcome outcome;
  for (int row = 0; row < kRows; ++row) {
    std::vector<double> passes;
    std::optional<Stop> stop;
    while (!stop) {
      passes.push_back(draw(random, static_cast<int>(passes.size())));
      stop = stop_reason(rule, passes, passes.size());
    }
    const auto interval = interval_of(passes, 0.95);
    if (interval->low <= median && median <= interval->high) outcome.coverage += 1.0 / kRows;
    outcome.passes += static_cast<double>(passes.size()) / kRows;
    if (stop->reason == StopReason::precision_reached) outcome.reached += 1.0 / kRows;
  }
  return outcome;
}

double normal(Random& random, double mean, double deviation) {
  return std::normal_distribution<double>(mean, deviation)(random);
}

double lognormal(Random& random, int /*pass*/) { return std::exp(normal(random, 0, 0.1)); }

/// Two ways in which a launch may run, of which one is taken in 7 of 10 passes. Median: P(N(1, 0.02) < m) =
/// 5/7.
double bimodal(Random& random, int /*pass*/) {
  const bool usual = std::bernoulli_distribution(0.7)(random);
  return usual ? normal(random, 1, 0.02) : normal(random, 1.3, 0.02);
}
const double kBimodalMedian = 1 + 0.02 * 0.5659488;  // the normal distribution's quantile of 5/7

TEST(Stopping, FixedPassesCoverTheMedianOfAnyDistribution) {
  const StoppingRule rule{.precision = 0, .passes = Precision{1, 20}};
  EXPECT_GE(measured(rule, [](Random& r, int) { return normal(r, 1, 0.07); }, 1).coverage, 0.975);
  EXPECT_GE(measured(rule, lognormal, 1).coverage, 0.975);
  EXPECT_GE(measured(rule, bimodal, kBimodalMedian).coverage, 0.97);
}

TEST(Stopping, StoppingWhenTightCostsLittleCoverageAndSavesPasses) {
  const StoppingRule rule;  // 5 %, 8 to 64 passes
  const Outcome quiet = measured(rule, [](Random& r, int) { return normal(r, 1, 0.02); }, 1);
  EXPECT_GE(quiet.coverage, 0.98);
  EXPECT_LT(quiet.passes, 10);
  EXPECT_NEAR(quiet.reached, 1, 1e-9);
  const Outcome noisy = measured(rule, [](Random& r, int) { return normal(r, 1, 0.07); }, 1);
  EXPECT_GE(noisy.coverage, 0.96);
  EXPECT_GT(noisy.passes, 10);
  EXPECT_LT(noisy.passes, 30);
  EXPECT_GE(measured(rule, lognormal, 1).coverage, 0.955);
  EXPECT_GE(measured(rule, bimodal, kBimodalMedian).coverage, 0.97);
}

TEST(Stopping, ARowThatIsTooWideSaysSoAfterTheMostPasses) {
  const Outcome wide = measured({}, [](Random& r, int) { return normal(r, 1, 0.5); }, 1);
  EXPECT_LT(wide.reached, 0.05);
  EXPECT_GT(wide.passes, 60);
  EXPECT_GE(wide.coverage, 0.94);
}

TEST(Stopping, SamplesOfAPassAreNotIndependentAndPassesAre) {
  // Each pass has a level of its own, as a communicator or a buffer gives it, and 30 samples around it.
  constexpr int kRows = 1000;
  constexpr int kPasses = 12;
  Random random(5);
  int covered_by_passes = 0;
  int covered_by_samples = 0;
  for (int row = 0; row < kRows; ++row) {
    std::vector<double> passes;
    std::vector<double> samples;
    for (int pass = 0; pass < kPasses; ++pass) {
      const double level = normal(random, 1, 0.05);
      std::vector<double> own;
      for (int i = 0; i < 30; ++i) own.push_back(normal(random, level, 0.02));
      passes.push_back(mean(own));
      samples.insert(samples.end(), own.begin(), own.end());
    }
    const auto holds = [](const auto& interval) { return interval->low <= 1 && 1 <= interval->high; };
    covered_by_passes += holds(median_interval(passes)) ? 1 : 0;
    covered_by_samples += holds(median_interval(samples)) ? 1 : 0;
  }
  EXPECT_GE(covered_by_passes, kRows * 0.94);
  EXPECT_LT(covered_by_samples, kRows * 0.5) << "else passes would not be needed";
}

TEST(Stopping, PassesThatFollowEachOtherMayBeAlike) {
  // A first-order autoregression: what a machine does lasts for some passes. The median stays 1.
  double level = 0;
  const Distribution alike = [&](Random& r, int pass) {
    constexpr double kCorrelation = 0.6;
    level = pass == 0
                ? normal(r, 0, 0.05)
                : kCorrelation * level + normal(r, 0, 0.05 * std::sqrt(1 - kCorrelation * kCorrelation));
    return 1 + level;
  };
  for (const int passes : {12, 20, 40}) {
    const StoppingRule rule{.precision = 0, .passes = Precision{1, passes}};
    EXPECT_GE(measured(rule, alike, 1).coverage, 0.92) << passes;
  }
  EXPECT_GE(measured({}, alike, 1).coverage, 0.85) << "stopped when tight";
}

TEST(Stopping, StatesThatLastForPassesAreSeenThroughNoise) {
  // Two states 10 % apart, each left with a chance of 1/10, and passes ± 5 % within one. Were they
  // independent, the exact interval would do.
  bool slow = false;
  const Distribution states = [&](Random& r, int pass) {
    if (std::bernoulli_distribution(pass == 0 ? 0.5 : 0.1)(r)) slow = !slow;
    return normal(r, slow ? 1.1 : 1, 0.05);
  };
  const StoppingRule rule{.precision = 0, .passes = Precision{1, 64}};
  EXPECT_GE(measured(rule, states, 1.05).coverage, 0.87);
  EXPECT_LT(measured(rule, states, 1.05, median_interval).coverage, 0.75);
}

TEST(Stopping, OfADriftTheIntervalHoldsWhatWasMeasuredAndNoMore) {
  // From 1 to 1.64 in 64 passes: the median of the time that was measured is 1.315, whenever it stops.
  const Distribution drift = [](Random& r, int pass) { return 1 + 0.01 * pass + normal(r, 0, 0.005); };
  const StoppingRule all{.precision = 0, .passes = Precision{1, 64}};
  EXPECT_GE(measured(all, drift, 1.315).coverage, 0.99);
  const StoppingRule early;
  EXPECT_LT(measured(early, drift, 1.315).coverage, 0.01) << "it stopped before most of the drift";
}

}  // namespace
}  // namespace collbench::collectives::stopping_test
