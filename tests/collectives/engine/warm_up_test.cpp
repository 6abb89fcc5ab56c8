#include "collectives/engine/warm_up.hpp"

#include <gtest/gtest.h>

#include "collectives/engine/measurement_loop.hpp"
#include "tests/collectives/engine/step_backend.hpp"
#include "tests/launch/rank_threads.hpp"

namespace collbench::collectives::warm_up_test {
namespace {

BlockPlan plan() {
  return {.run = true, .check = true, .warmup = 1'000, .iterations = 10'000, .iterations_per_sample = 8};
}

/// After the warm-up of a row whose calls take `call_seconds` on the last rank, `left_seconds` before the end
/// of the run by rank 0's clock.
BlockPlan warmed_up(launch::Ranks& ranks, double call_seconds, const FixedCounts& fixed,
                    double* seconds = nullptr, double left_seconds = 0) {
  StepBackend backend({.call_seconds = ranks.rank() == ranks.size() - 1 ? call_seconds : 1e-5});
  const auto prepared = backend.prepare(row_of(8), {});
  const BlockPlan made = warm_up(ranks, backend.clock(), *prepared, plan(),
                                 {0.1, 1e-6, ranks.is_root() ? left_seconds : -1}, fixed);
  if (seconds != nullptr) *seconds = backend.now();
  return made;
}

TEST(WarmUp, LeavesThePlanAsItIsWhileCallsTakeAboutWhatTheyDid) {
  launch::run_rank_threads(3, [](launch::Ranks& ranks) {
    for (const double call_seconds : {1e-5, 5e-5}) {
      const BlockPlan made = warmed_up(ranks, call_seconds, {});
      EXPECT_EQ(made.iterations, plan().iterations);
      EXPECT_EQ(made.iterations_per_sample, plan().iterations_per_sample);
    }
  });
}

TEST(WarmUp, OfCallsThatBecameMuchSlowerOnOneRankIsEndedOnAll) {
  launch::run_rank_threads(3, [](launch::Ranks& ranks) {
    double seconds = 0;
    const BlockPlan made = warmed_up(ranks, 4e-3, {}, &seconds);
    EXPECT_EQ(made.iterations,
              24U);  // 0.1 s of calls that take some ns more than 4 ms by the sum of 256 of them
    EXPECT_EQ(made.iterations_per_sample, 8U);
    EXPECT_TRUE(made.check);
    EXPECT_LT(seconds, 1.1);
  });
}

TEST(WarmUp, OfSoManyIterationsAsTheUserFixedIsDone) {
  launch::run_rank_threads(2, [](launch::Ranks& ranks) {
    double seconds = 0;
    const BlockPlan made = warmed_up(ranks, 4e-3, {.iterations = 10'000}, &seconds);
    EXPECT_EQ(made.iterations, plan().iterations);
    if (ranks.rank() == 1) {
      EXPECT_NEAR(seconds, 4, 0.1);
    }
  });
}

TEST(WarmUp, OfSoManyCallsAsTheUserFixedIsDoneAsLongAsTheRunHasTime) {
  launch::run_rank_threads(3, [](launch::Ranks& ranks) {
    for (const std::optional<std::uint64_t> graphs :
         {std::optional<std::uint64_t>(), std::optional<std::uint64_t>(2)}) {
      const FixedCounts fixed{.warmup = 1'000, .graph_launches = graphs};
      double seconds = 0;
      const BlockPlan whole = warmed_up(ranks, 4e-3, fixed, &seconds, 5);
      EXPECT_EQ(whole.warmup, 1'000U) << "4 s, where 1 s is the limit of those that nobody asked for";
      EXPECT_EQ(whole.iterations, plan().iterations);
      if (ranks.rank() == 2) {
        EXPECT_NEAR(seconds, 4, 0.1);
      }
      const BlockPlan cut = warmed_up(ranks, 4e-3, fixed, &seconds, 2);
      EXPECT_GT(cut.warmup, 500U - 1);
      EXPECT_LT(cut.warmup, 700U);
      EXPECT_EQ(cut.iterations, graphs.value_or(1)) << "the time of the run is over";
      EXPECT_LT(seconds, 2.8);
      EXPECT_EQ(launch::broadcast_value(ranks, cut.warmup), cut.warmup) << "the same on all ranks";
      EXPECT_EQ(warmed_up(ranks, 4e-3, fixed, &seconds, -1).warmup, 1U);
    }
  });
}

TEST(WarmUp, ARunWhoseCallsBecomeMuchSlowerIsBoundedInTime) {
  for (const std::uint64_t slow_after : {5'000U, 11'300U}) {  // inside the first block, between blocks
    launch::run_rank_threads(2, [&](launch::Ranks& ranks) {
      StepBackend backend({.call_seconds = 1e-5, .slow_after = ranks.rank() == 1 ? slow_after : 0});
      MeasurementLoopOptions options;
      options.seconds = 30;
      options.checks = 0;
      options.stopping.passes = FixedPasses{4};
      MeasurementObserver observer;
      std::vector<std::uint64_t> iterations;
      observer.block = [&](const MeasuredBlock& block) { iterations.push_back(block.iterations); };
      const MeasurementResult result =
          run_measurement_loop(ranks, backend, {row_of(8), row_of(64)}, kHosts, options, observer);
      // 4,096 calls and a span of 4 ms once, and some warm-ups of 1 s; the blocks as planned are 40 s each.
      EXPECT_LT(backend.now(), 30) << slow_after;
      if (ranks.is_root()) {
        EXPECT_EQ(result.passes, 4);
        ASSERT_FALSE(iterations.empty());
        EXPECT_LE(iterations.back(), 250U) << "calls of 4 ms in kMaxBlockSeconds";
      }
    });
  }
}

}  // namespace
}  // namespace collbench::collectives::warm_up_test
