#include "collectives/engine/block_plan.hpp"

#include <gtest/gtest.h>

#include "collectives/engine/measurement_loop.hpp"
#include "tests/collectives/engine/step_backend.hpp"
#include "tests/launch/rank_threads.hpp"

namespace collbench::collectives::block_plan_test {
namespace {

TEST(BlockPlan, FastOperationsShareSamplesSoThatTheClockCostsNothing) {
  const BlockPlan plan = plan_block(1.5e-6, 0.01, 20e-6, {});
  EXPECT_EQ(plan.iterations, 6666U);
  EXPECT_EQ(plan.iterations_per_sample, 16U);  // 24 µs
  EXPECT_EQ(plan.warmup, 666U);
}

TEST(BlockPlan, SlowOperationsAreSampledOneByOne) {
  const BlockPlan plan = plan_block(50e-6, 0.01, 20e-6, {});
  EXPECT_EQ(plan.iterations, 200U);
  EXPECT_EQ(plan.iterations_per_sample, 1U);
}

TEST(BlockPlan, ASampleIsTheSameHoweverLongTheBlock) {
  for (const double block_seconds : {1e-4, 1e-2, 0.1, 10.0}) {
    EXPECT_EQ(plan_block(0.5e-6, block_seconds, 3.5e-6, {}).iterations_per_sample, 8U) << block_seconds;
  }
  EXPECT_EQ(plan_block(50e-6, 1.0, 3.5e-6, {}).iterations_per_sample, 1U);
}

TEST(BlockPlan, TwoRunsThatFindAlmostTheSameTimeMeanTheSameByASample) {
  EXPECT_EQ(plan_block(0.46e-6, 0.1, 3.5e-6, {}).iterations_per_sample, 8U);
  EXPECT_EQ(plan_block(0.80e-6, 0.1, 3.5e-6, {}).iterations_per_sample, 8U);
}

TEST(BlockPlan, AnOperationLongerThanItsBlockRunsOnce) {
  const BlockPlan plan = plan_block(3.0, 0.1, 20e-6, {});
  EXPECT_EQ(plan.iterations, 1U);
  EXPECT_EQ(plan.iterations_per_sample, 1U);
  EXPECT_EQ(plan.warmup, 1U);
}

TEST(BlockPlan, FixedCountsAreKept) {
  const BlockPlan plan = plan_block(1e-6, 0.01, 20e-6, {.iterations = 5, .warmup = 0});
  EXPECT_EQ(plan.iterations, 5U);
  EXPECT_EQ(plan.warmup, 0U);
  EXPECT_LE(plan.iterations_per_sample, 5U);
}

TEST(BlockPlan, EverythingIsWholeGroups) {
  const BlockPlan fixed = plan_block(1e-6, 0.01, 20e-6, {.iterations = 5, .warmup = 2, .per_group = 8});
  EXPECT_EQ(fixed.iterations, 40U) << "as -n and -m of nccl-tests: 5 groups of 8";
  EXPECT_EQ(fixed.warmup, 16U);
  const BlockPlan by_time = plan_block(3e-6, 0.01, 20e-6, {.per_group = 7});
  EXPECT_EQ(by_time.iterations % 7, 0U);
  EXPECT_EQ(by_time.iterations_per_sample % 7, 0U);
  EXPECT_EQ(by_time.warmup % 7, 0U);
  EXPECT_GE(by_time.iterations, 3333U);
}

TEST(BlockPlan, AGraphHoldsTheIterationsAndIsLaunchedAsOftenAsSaid) {
  const BlockPlan fixed = plan_block(1e-6, 0.01, 20e-6, {.iterations = 20, .graph_launches = 5});
  EXPECT_EQ(fixed.iterations, 100U);
  EXPECT_EQ(fixed.iterations_per_sample, 20U);
  const BlockPlan timed = plan_block(1e-4, 0.01, 20e-6, {.graph_launches = 5});
  EXPECT_EQ(timed.iterations_per_sample, 20U);
  EXPECT_EQ(timed.iterations, 100U);
  EXPECT_EQ(plan_block(1e-9, 0.1, 20e-6, {.graph_launches = 1}).iterations, kMaxInGraph);
  EXPECT_EQ(plan_block(1, 0.1, 20e-6, {.graph_launches = 3}).iterations, 3U);
}

TEST(BlockPlan, NoTimeAtAllIsSurvived) {
  const BlockPlan plan = plan_block(0, 0.01, 20e-6, {});
  EXPECT_GE(plan.iterations, 1U);
}

/// One call of 200 takes 50 µs, the others 0.5 µs: of samples of 8 calls 4 % hold one, of samples of hundreds
/// all.
Measurement with_slow_calls(int passes, int rows, bool endless) {
  Measurement row;
  launch::run_rank_threads(1, [&](launch::Ranks& ranks) {
    StepBackend backend({.call_seconds = 0.5e-6, .slow_call_every = 200});
    MeasurementLoopOptions options;
    options.stopping.passes = FixedPasses{passes};
    if (endless) options.stopping.passes = Endless{};
    options.checks = 0;
    options.fixed.iterations = 4000;
    int done = 0;
    MeasurementObserver observer;
    observer.between_passes = [&] { ++done; };
    observer.interrupted = [&] { return endless && done == passes; };
    std::vector<RowKey> keys;
    for (int i = 0; i < rows; ++i) keys.push_back(row_of(8U << static_cast<unsigned>(i)));
    row = run_measurement_loop(ranks, backend, keys, kHosts, options, observer).rows.at(0);
  });
  return row;
}

TEST(MeasurementLoop, SamplesAndTheirQuantilesDependNeitherOnThePassesNorOnTheRows) {
  for (const Measurement& row : {with_slow_calls(8, 1, false), with_slow_calls(64, 1, false),
                                 with_slow_calls(8, 1, true), with_slow_calls(8, 12, false)}) {
    EXPECT_EQ(row.iterations_per_sample, 8U) << "3.5 µs, 100 readings of the clock";
    EXPECT_NEAR(row.median, 0.5e-6, 1e-9);
    EXPECT_NEAR(row.p95, 0.5e-6, 1e-9) << "4 % of the samples hold a slow call";
    EXPECT_NEAR(row.p99, (7 * 0.5e-6 + 50e-6) / 8, 1e-8);
  }
}

TEST(Pilot, IsWhatAnIterationTakesOnTheSlowestRank) {
  launch::run_rank_threads(3, [](launch::Ranks& ranks) {
    for (const double call_seconds : {1e-7, 1e-3, 10.0}) {
      for (const FixedCounts& fixed :
           {FixedCounts{}, FixedCounts{.iterations = 3}, FixedCounts{.graph_launches = 2}}) {
        StepBackend backend({.slowness = 1.0 + ranks.rank(), .call_seconds = call_seconds});
        const auto prepared = backend.prepare(row_of(8), {});
        EXPECT_NEAR(pilot(ranks, *prepared, 0.1, fixed) / call_seconds, 3, 1e-6);
        // Twice as long a run as tells, ten times as long as the one before, or twice the only iteration.
        EXPECT_LE(backend.now(), std::max(2 * 1.2 * 1e-2 * 3, 2.1 * call_seconds * 3 * 4));
      }
    }
  });
}

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
}  // namespace collbench::collectives::block_plan_test
