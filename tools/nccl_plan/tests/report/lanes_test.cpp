#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tools/nccl_plan/report/words.hpp"

namespace collbench::analysis {
namespace {

using testing::ElementsAre;
using testing::Pair;

NcclPlan two_nodes_of_two() {
  NcclPlan plan;
  plan.nodes = 2;
  plan.ranks = 4;
  return plan;
}

TEST(NcclPlanLanes, ARingBeginsWhereItEntersItsFirstNode) {
  NcclPlan plan = two_nodes_of_two();
  plan.rings = {{0, 3, 2, 1}, {0, 3, 2, 1}, {0, 1, 2, 3}};
  const auto lanes = ring_lanes(plan);
  ASSERT_EQ(lanes.size(), 2U);
  EXPECT_EQ(lanes[0].label, "ring 0, 1");
  EXPECT_THAT(lanes[0].visits, ElementsAre(ElementsAre(1, 0), ElementsAre(3, 2)));
  EXPECT_EQ(lanes[0].hops.back().from, 2);
  EXPECT_EQ(lanes[0].hops.back().to, 1);
  EXPECT_EQ(lanes[1].channel, 2);
}

TEST(NcclPlanLanes, ATreeGoesFromItsRootDown) {
  NcclPlan plan = two_nodes_of_two();
  plan.tree_parents = {{2, 0, -1, 2}};
  const auto lanes = tree_lanes(plan);
  ASSERT_EQ(lanes.size(), 1U);
  EXPECT_EQ(lanes[0].root, 2);
  EXPECT_THAT(lanes[0].visits, ElementsAre(ElementsAre(0, 1), ElementsAre(2, 3)));
  EXPECT_EQ(lanes[0].hops.size(), 3U);
}

TEST(NcclPlanLanes, WhatIsNeitherRingNorTreeIsLeftOut) {
  NcclPlan plan = two_nodes_of_two();
  plan.rings = {{}, {0, 1}, {0, 1, 2, 2}, {0, 1, 2, 9}, {-1, 0, 1, 2}};
  plan.tree_parents = {{}, {1, 0, -1, 9}, {-1, -1, 0, 0}, {-1, 0, 0}};
  EXPECT_TRUE(ring_lanes(plan).empty());
  EXPECT_TRUE(tree_lanes(plan).empty());
}

TEST(NcclPlanLanes, ARailIsWhatConnectionsJoin) {
  NcclPlan plan = two_nodes_of_two();
  plan.connections = {{0, 0, 2, 1, 1, true, {}},
                      {1, 3, 1, 2, 0, true, {}},
                      {2, 1, 3, 0, 3, true, {}},
                      {3, 0, 2, 5, {}, true, {}}};
  const auto rails = rails_of(plan);
  ASSERT_EQ(rails.size(), 2U);
  EXPECT_THAT(rails[0].ends, ElementsAre(Pair(0, 0), Pair(1, 2), Pair(1, 3)));
  EXPECT_THAT(rails[0].channels, ElementsAre(1, 2));
  EXPECT_THAT(rails[1].ends, ElementsAre(Pair(0, 1), Pair(1, 1)));
}

}  // namespace
}  // namespace collbench::analysis
