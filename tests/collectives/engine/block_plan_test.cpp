#include "collectives/engine/block_plan.hpp"

#include <gtest/gtest.h>

namespace collbench::collectives::block_plan_test {
namespace {

TEST(BlockPlan, FastOperationsShareSamplesSoThatTheClockCostsNothing) {
  const BlockPlan plan = plan_block(1.5e-6, 0.01, 1'000'000, {});
  EXPECT_EQ(plan.iterations, 6666U);
  EXPECT_EQ(plan.iterations_per_sample, 14U);  // 21 µs
  EXPECT_EQ(plan.warmup, 666U);
}

TEST(BlockPlan, SlowOperationsAreSampledOneByOne) {
  const BlockPlan plan = plan_block(50e-6, 0.01, 1'000'000, {});
  EXPECT_EQ(plan.iterations, 200U);
  EXPECT_EQ(plan.iterations_per_sample, 1U);
}

TEST(BlockPlan, SamplesFitTheirMemory) {
  const BlockPlan plan = plan_block(50e-6, 1.0, 256, {});
  EXPECT_EQ(plan.iterations, 20'000U);
  EXPECT_EQ(plan.iterations_per_sample, 79U);  // ⌈20000 / 256⌉
}

TEST(BlockPlan, AnOperationLongerThanItsBlockRunsOnce) {
  const BlockPlan plan = plan_block(3.0, 0.1, 256, {});
  EXPECT_EQ(plan.iterations, 1U);
  EXPECT_EQ(plan.iterations_per_sample, 1U);
  EXPECT_EQ(plan.warmup, 1U);
}

TEST(BlockPlan, FixedCountsAreKept) {
  const BlockPlan plan = plan_block(1e-6, 0.01, 256, {.iterations = 5, .warmup = 0});
  EXPECT_EQ(plan.iterations, 5U);
  EXPECT_EQ(plan.warmup, 0U);
  EXPECT_LE(plan.iterations_per_sample, 5U);
}

TEST(BlockPlan, EverythingIsWholeGroups) {
  const BlockPlan fixed = plan_block(1e-6, 0.01, 256, {.iterations = 5, .warmup = 2, .per_group = 8});
  EXPECT_EQ(fixed.iterations, 40U) << "as -n and -m of nccl-tests: 5 groups of 8";
  EXPECT_EQ(fixed.warmup, 16U);
  const BlockPlan by_time = plan_block(3e-6, 0.01, 256, {.per_group = 7});
  EXPECT_EQ(by_time.iterations % 7, 0U);
  EXPECT_EQ(by_time.iterations_per_sample % 7, 0U);
  EXPECT_EQ(by_time.warmup % 7, 0U);
  EXPECT_GE(by_time.iterations, 3333U);
}

TEST(BlockPlan, AGraphHoldsTheIterationsAndIsLaunchedAsOftenAsSaid) {
  const BlockPlan fixed = plan_block(1e-6, 0.01, 256, {.iterations = 20, .graph_launches = 5});
  EXPECT_EQ(fixed.iterations, 100U);
  EXPECT_EQ(fixed.iterations_per_sample, 20U);
  const BlockPlan timed = plan_block(1e-4, 0.01, 256, {.graph_launches = 5});
  EXPECT_EQ(timed.iterations_per_sample, 20U);
  EXPECT_EQ(timed.iterations, 100U);
  EXPECT_EQ(plan_block(1e-9, 0.1, 256, {.graph_launches = 1}).iterations, kMaxInGraph);
  EXPECT_EQ(plan_block(1, 0.1, 256, {.graph_launches = 3}).iterations, 3U);
}

TEST(BlockPlan, NoTimeAtAllIsSurvived) {
  const BlockPlan plan = plan_block(0, 0.01, 256, {});
  EXPECT_GE(plan.iterations, 1U);
}

}  // namespace
}  // namespace collbench::collectives::block_plan_test
