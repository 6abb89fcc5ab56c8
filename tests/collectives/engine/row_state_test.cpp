// What the loop does of what cannot fit into its time.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <utility>
#include <vector>

#include "collectives/engine/measurement_loop.hpp"
#include "tests/collectives/engine/step_backend.hpp"
#include "tests/launch/rank_threads.hpp"

namespace collbench::collectives::row_state_test {
namespace {

using ::testing::ElementsAre;
using ::testing::StartsWith;

struct Outcome {
  std::vector<Measurement> rows;
  std::vector<std::size_t> said;
  double seconds = 0;
};

/// A run of rows of these sizes whose calls take a second for every 100 bytes.
Outcome run(launch::Ranks& ranks, const std::vector<std::uint64_t>& sizes,
            const MeasurementLoopOptions& options, std::uint64_t* visited_last = nullptr) {
  StepBackend backend({.call_seconds = 0, .byte_seconds = 0.01});
  std::vector<RowKey> keys;
  for (const std::uint64_t size : sizes) keys.push_back(row_of(size));
  Outcome outcome;
  MeasurementObserver observer;
  observer.left_out = [&](std::size_t row, const std::string& /*why*/) {
    EXPECT_TRUE(ranks.is_root());
    outcome.said.push_back(row);
    if (visited_last != nullptr) *visited_last = backend.visited.empty() ? 0 : backend.visited.back();
  };
  outcome.rows = run_measurement_loop(ranks, backend, keys, kHosts, options, observer).rows;
  outcome.seconds = backend.now();
  return outcome;
}

MeasurementLoopOptions of_seconds(double seconds) {
  MeasurementLoopOptions options;
  options.seconds = seconds;
  return options;
}

TEST(TimeOfTheRun, ARowThatCannotFitIsLeftOutBeforeItBegins) {
  launch::run_rank_threads(2, [](launch::Ranks& ranks) {
    std::uint64_t before = 0;
    const Outcome outcome = run(ranks, {1, 100, 1000, 2}, of_seconds(20), &before);
    EXPECT_LT(outcome.seconds, 20);
    EXPECT_THAT(outcome.rows.at(2).unavailable, StartsWith("1000 B left out: it takes about 30 s, and "));
    EXPECT_EQ(outcome.rows.at(2).stopped, Stop{StopReason::out_of_time});
    EXPECT_TRUE(outcome.rows.at(2).pass_seconds.empty());
    for (const std::size_t row : {0U, 1U, 3U}) {
      EXPECT_EQ(outcome.rows.at(row).unavailable, "") << row;
      EXPECT_FALSE(outcome.rows.at(row).pass_seconds.empty()) << row;
    }
    if (!ranks.is_root()) return;
    EXPECT_THAT(outcome.said, ElementsAre(2));
    EXPECT_EQ(before, 100U) << "it is said before anything of it has run";
  });
}

TEST(TimeOfTheRun, ARowOfWhichNothingIsKnownTakesOneCallBeforeItIsLeftOut) {
  launch::run_rank_threads(2, [](launch::Ranks& ranks) {
    const Outcome outcome = run(ranks, {1000, 100, 1}, of_seconds(20));
    EXPECT_THAT(outcome.rows.at(0).unavailable,
                StartsWith("1000 B left out: it takes about 30 s, and 10 s of"));
    EXPECT_FALSE(outcome.rows.at(1).pass_seconds.empty());
    EXPECT_FALSE(outcome.rows.at(2).pass_seconds.empty());
    EXPECT_LT(outcome.seconds, 20);
  });
}

TEST(TimeOfTheRun, ARowThatFitsOnlyWithFewCallsRunsWithFew) {
  launch::run_rank_threads(2, [](launch::Ranks& ranks) {
    // The first call, the check's, one of warm-up, and one that is timed: with two more to tell how long one
    // takes they would be 60 s.
    const Outcome outcome = run(ranks, {1000}, of_seconds(55));
    EXPECT_EQ(outcome.rows.at(0).unavailable, "");
    EXPECT_THAT(outcome.rows.at(0).pass_seconds, ElementsAre(10));
    EXPECT_NEAR(outcome.seconds, 40, 1e-6);
  });
}

TEST(TimeOfTheRun, IsWhatTheFixedNumberOfIterationsTakes) {
  launch::run_rank_threads(2, [](launch::Ranks& ranks) {
    MeasurementLoopOptions options = of_seconds(20);
    options.fixed.iterations = 2;
    const Outcome outcome = run(ranks, {1, 100, 1000}, options);
    for (const Measurement& row : outcome.rows) {
      EXPECT_EQ(row.unavailable, "");
      EXPECT_FALSE(row.pass_seconds.empty());
    }
    EXPECT_TRUE(outcome.said.empty());
  });
}

TEST(TimeOfTheRun, WithoutEndLeavesNothingOut) {
  launch::run_rank_threads(2, [](launch::Ranks& ranks) {
    MeasurementLoopOptions options = of_seconds(std::numeric_limits<double>::infinity());
    options.stopping.passes = FixedPasses{1};
    for (const Measurement& row : run(ranks, {1, 100, 1000, 100'000}, options).rows)
      EXPECT_FALSE(row.pass_seconds.empty());
  });
}

TEST(TimeOfTheRun, OfAFixedWarmUpTheRecordHasTheNumberDone) {
  launch::run_rank_threads(2, [](launch::Ranks& ranks) {
    MeasurementLoopOptions options = of_seconds(100);
    options.fixed.warmup = 300;  // of 0.01 s: longer than any that nobody asked for
    options.stopping.passes = FixedPasses{2};
    const Measurement whole = run(ranks, {1}, options).rows.at(0);
    EXPECT_EQ(whole.warmup_iterations, 2 * 300U);
    EXPECT_EQ(whole.note, "");
    options.seconds = 2;
    const Outcome cut = run(ranks, {1}, options);
    EXPECT_LT(cut.seconds, 3);
    EXPECT_GT(cut.rows.at(0).warmup_iterations, 100U);
    EXPECT_LT(cut.rows.at(0).warmup_iterations, 300U);
    EXPECT_EQ(cut.rows.at(0).note, "--time ended the warm-up before its 300 iterations");
  });
}

}  // namespace
}  // namespace collbench::collectives::row_state_test
