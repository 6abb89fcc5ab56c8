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

}  // namespace
}  // namespace collbench::collectives::block_plan_test
