#include "tools/nccl_plan/report/diff.hpp"

#include <gtest/gtest.h>

namespace collbench::analysis {
namespace {

NcclPlannedRow row(OperationId operation, std::uint64_t size, const NcclSelection& selection,
                   std::optional<double> seconds) {
  return {operation, size, selection, seconds};
}

const NcclSelection kTree{"tree", "ll", 8, {}};
const NcclSelection kRing{"ring", "simple", 16, {}};

/// One node, a ring of 8 channels, and rows of AllReduce.
NcclPlan plan_of(const std::vector<NcclPlannedRow>& rows) {
  NcclPlan plan;
  plan.ranks = 8;
  plan.graphs = {{{NcclAlgorithm::ring, 4, 0, 8, 48e9, 48e9, "NVL", "PIX", {{0, 0, {0, 1}}}}}};
  plan.collective_channels = 16;
  plan.rings = {{0, 1}, {0, 1}};
  plan.rows = rows;
  return plan;
}

TEST(NcclPlanDiff, EqualPlansHaveNone) {
  const NcclPlan plan = plan_of({row(OperationId::all_reduce, 1024, kTree, 1e-5)});
  EXPECT_TRUE(diff_nccl_plans(plan, plan).empty());
}

TEST(NcclPlanDiff, AGraphThatChangesIsNamedWithoutItsChannels) {
  const NcclPlan before = plan_of({});
  NcclPlan after = before;
  after.graphs[0][0].inter_bytes_per_second = 24e9;
  after.graphs[0].push_back({NcclAlgorithm::nvls, 5, 0, 8, 40e9, 60e9, "NVL", "PIX", {}});
  const NcclPlanDiff diff = diff_nccl_plans(before, after);
  ASSERT_EQ(diff.graphs.size(), 2U);
  EXPECT_EQ(diff.graphs[0].algorithm, NcclAlgorithm::ring);
  EXPECT_EQ(diff.graphs[0].before.value().inter_bytes_per_second, 48e9);
  EXPECT_EQ(diff.graphs[0].after.value().inter_bytes_per_second, 24e9);
  EXPECT_TRUE(diff.graphs[0].before.value().channel.empty());
  EXPECT_EQ(diff.graphs[1].algorithm, NcclAlgorithm::nvls);
  EXPECT_FALSE(diff.graphs[1].before);
}

TEST(NcclPlanDiff, CountsAndWaysThatDiffer) {
  const NcclPlan before = plan_of({});
  NcclPlan after = before;
  after.collective_channels = 8;
  after.rings = {{0, 1}, {1, 0}, {0, 1}};
  after.warnings = {"new"};
  const NcclPlanDiff diff = diff_nccl_plans(before, after);
  EXPECT_EQ(diff.counts, (std::vector<NcclCountChange>{{"channels of rings and trees", 16, 8}}));
  EXPECT_EQ(diff.rings_that_differ, 1);
  EXPECT_EQ(diff.trees_that_differ, 0);
  EXPECT_EQ(diff.warnings, std::vector<std::string>{"new"});
  EXPECT_FALSE(diff.empty());
}

TEST(NcclPlanDiff, EveryGraphIsCompared) {
  const NcclPlan before = plan_of({});
  for (const NcclAlgorithm algorithm : kSearchedAlgorithms) {
    NcclPlan one = before;
    one.graphs[0] = {{algorithm, 1, 0, 4, 24e9, 24e9, "NVL", "PIX", {}}};
    NcclPlan other = one;
    other.graphs[0][0].channels = 5;
    const NcclPlanDiff diff = diff_nccl_plans(one, other);
    ASSERT_EQ(diff.graphs.size(), 1U) << name(algorithm);
    EXPECT_EQ(diff.graphs[0].algorithm, algorithm);
  }
}

TEST(NcclPlanDiff, EveryCountAndTreeIsComparedAndOnlyNewWarningsAreSaid) {
  NcclPlan before = plan_of({});
  before.tree_parents = {{-1, 0}, {1, -1}};
  before.warnings = {"old"};
  NcclPlan after = before;
  after.nvls_channels = 16;
  after.p2p_channels = 32;
  after.p2p_channels_per_peer = 2;
  after.nvls_heads = {{0}, {1}, {2}};
  after.tree_parents = {{-1, 0}, {-1, 0}};
  after.warnings = {"old", "new"};
  const NcclPlanDiff diff = diff_nccl_plans(before, after);
  EXPECT_EQ(diff.counts, (std::vector<NcclCountChange>{{"NVLS channels", 0, 16},
                                                       {"p2p channels", 0, 32},
                                                       {"p2p channels per peer", 0, 2},
                                                       {"NVLS heads", 0, 3}}));
  EXPECT_EQ(diff.trees_that_differ, 1);
  EXPECT_EQ(diff.warnings, std::vector<std::string>{"new"});
}

TEST(NcclPlanDiff, ATimeOfNothingIsNoTimeToCompareWith) {
  const auto op = OperationId::all_reduce;
  EXPECT_TRUE(diff_nccl_plans(plan_of({row(op, 1, kTree, 0.0)}), plan_of({row(op, 1, kTree, 1e-5)})).empty());
}

TEST(NcclPlanDiff, NeighboringSizesOfOneChangeAreOneRange) {
  const auto op = OperationId::all_reduce;
  const NcclPlan before = plan_of({row(op, 1, kTree, 10e-6), row(op, 2, kTree, 20e-6),
                                   row(op, 4, kTree, 40e-6), row(op, 8, kTree, 80e-6)});
  const NcclPlan after = plan_of({row(op, 1, kTree, 10e-6), row(op, 2, kRing, 22e-6),
                                  row(op, 4, kRing, 36e-6), row(op, 8, kTree, 80e-6)});
  const NcclPlanDiff diff = diff_nccl_plans(before, after);
  ASSERT_EQ(diff.choices.size(), 1U);
  EXPECT_EQ(diff.choices[0].from_bytes, 2U);
  EXPECT_EQ(diff.choices[0].to_bytes, 4U);
  EXPECT_EQ(diff.choices[0].before, kTree);
  EXPECT_EQ(diff.choices[0].after, kRing);
  EXPECT_DOUBLE_EQ(diff.choices[0].least_ratio.value(), 0.9);
  EXPECT_DOUBLE_EQ(diff.choices[0].greatest_ratio.value(), 1.1);
}

TEST(NcclPlanDiff, ARangeEndsAtASizeThatIsTheSame) {
  const auto op = OperationId::all_reduce;
  const NcclPlan before = plan_of({row(op, 1, kTree, {}), row(op, 2, kTree, {}), row(op, 4, kTree, {})});
  const NcclPlan after = plan_of({row(op, 1, kRing, {}), row(op, 2, kTree, {}), row(op, 4, kRing, {})});
  const NcclPlanDiff diff = diff_nccl_plans(before, after);
  ASSERT_EQ(diff.choices.size(), 2U);
  EXPECT_EQ(diff.choices[1].from_bytes, 4U);
  EXPECT_FALSE(diff.choices[1].least_ratio);
}

TEST(NcclPlanDiff, ATimeAloneCountsFromAThousandth) {
  const auto op = OperationId::all_reduce;
  const NcclPlan before = plan_of({row(op, 1, kTree, 10e-6), row(op, 2, kTree, 10e-6)});
  const NcclPlan after = plan_of({row(op, 1, kTree, 10.005e-6), row(op, 2, kTree, 10.1e-6)});
  const NcclPlanDiff diff = diff_nccl_plans(before, after);
  ASSERT_EQ(diff.choices.size(), 1U);
  EXPECT_EQ(diff.choices[0].from_bytes, 2U);
}

TEST(NcclPlanDiff, OperationsAreApartAndRowsOfOnePlanLeftOut) {
  const NcclPlan before =
      plan_of({row(OperationId::all_reduce, 4, kTree, {}), row(OperationId::all_gather, 4, kTree, {}),
               row(OperationId::all_gather, 8, kTree, {})});
  const NcclPlan after =
      plan_of({row(OperationId::all_reduce, 4, kRing, {}), row(OperationId::all_gather, 4, kRing, {})});
  const NcclPlanDiff diff = diff_nccl_plans(before, after);
  ASSERT_EQ(diff.choices.size(), 2U);
  EXPECT_EQ(diff.choices[1].operation, OperationId::all_gather);
  EXPECT_EQ(diff.choices[1].to_bytes, 4U);
}

}  // namespace
}  // namespace collbench::analysis
