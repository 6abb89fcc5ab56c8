#include "tools/burnin/attribution/group_phases.hpp"

#include <gmock/gmock.h>

#include <numeric>

#include "base/record/run.hpp"

namespace collbench::analysis {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

std::vector<int> all_of(int count) {
  std::vector<int> nodes(static_cast<std::size_t>(count));
  std::iota(nodes.begin(), nodes.end(), 0);
  return nodes;
}

TEST(GroupPhases, EachNodeRailAndAll) {
  EXPECT_THAT(group_batches(BurninPhase::nodes, all_of(3), 2, {}), ElementsAre(SizeIs(3)));
  const auto rails = group_batches(BurninPhase::rails, all_of(3), 2, {});
  EXPECT_THAT(rails, ElementsAre(SizeIs(1), SizeIs(1), SizeIs(2)));
  EXPECT_TRUE(rails[0][0].alone);
  EXPECT_FALSE(rails[2][0].alone);
  EXPECT_EQ(rails[1][0].rail, 1);
  EXPECT_THAT(group_batches(BurninPhase::rails, all_of(3), 1, {}), IsEmpty());
  EXPECT_THAT(group_batches(BurninPhase::whole, all_of(3), 2, {})[0][0].nodes, ElementsAre(0, 1, 2));
  EXPECT_THAT(group_batches(BurninPhase::pairs, all_of(3), 2, {}), IsEmpty());
  EXPECT_THAT(group_batches(BurninPhase::nodes, {}, 2, {}), IsEmpty());
}

TEST(GroupPhases, GroupsCoverEachNodeAndNoneIsTwiceInABatch) {
  const auto batches = group_batches(BurninPhase::groups, all_of(10), 1, {});
  ASSERT_THAT(batches, SizeIs(4));  // 4 and what remains, 8 and what remains
  EXPECT_THAT(batches[0], SizeIs(2));
  EXPECT_THAT(batches[1][0].nodes, ElementsAre(6, 7, 8, 9));
  EXPECT_THAT(batches[3][0].nodes, ElementsAre(2, 3, 4, 5, 6, 7, 8, 9));
  EXPECT_THAT(group_batches(BurninPhase::groups, all_of(4), 1, {}), IsEmpty());  // that is the whole
}

TEST(GroupPhases, GroupsStayBelowALeafThatHoldsThem) {
  // Leaves of 6: groups of 4 are cut in each, groups of 8 cannot be.
  const std::vector<int> leaves{0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1};
  const auto batches = group_batches(BurninPhase::groups, all_of(12), 1, leaves);
  EXPECT_THAT(batches[0][1].nodes, ElementsAre(6, 7, 8, 9));
  EXPECT_THAT(batches[1][0].nodes, ElementsAre(2, 3, 4, 5));
  EXPECT_THAT(batches[2][0].nodes, ElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
}

TEST(GroupPhases, OnlyNodesOfLeavesThatAreTooSmallAreInGroupsThatCross) {
  // Leaves of 4, 2, 2 and 1 nodes.
  const std::vector<int> leaves{0, 0, 0, 0, 1, 1, 2, 2, 3};
  const auto batches = group_batches(BurninPhase::groups, all_of(9), 1, leaves);
  EXPECT_THAT(batches[0][0].nodes, ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(batches[0][1].nodes, ElementsAre(4, 5, 6, 7));
  EXPECT_THAT(batches[1], SizeIs(1));
  EXPECT_THAT(batches[1][0].nodes, ElementsAre(5, 6, 7, 8));
}

TEST(GroupPhases, AForcedAlgorithmIsAnOperationOfItsOwn) {
  collbench::Run record;
  record.backend = BackendId::nccl;
  record.ranks = {{.rank = 0, .host = "n0"}, {.rank = 1, .host = "n1"}};
  for (const char* const algorithm : {"auto", "ring"}) {
    Row row;
    row.measurement.key.size_bytes = 1000;
    row.measurement.key.algorithm = algorithm;
    row.measurement.pass_seconds = {1e-6, 2e-6};
    record.rows.push_back(row);
  }
  const GroupOutcome outcome =
      group_outcome(to_json_text(record), {BurninPhase::groups, {0, 1}}, {"n0", "n1"});
  ASSERT_THAT(outcome.rates, SizeIs(2)) << outcome.why;
  EXPECT_EQ(outcome.rates[0].operation, "all_reduce");
  EXPECT_EQ(outcome.rates[1].operation, "all_reduce ring");
  EXPECT_NEAR(outcome.rates[1].bus_bandwidth, 1e9, 1);
  EXPECT_FALSE(outcome.rates[1].host_memory);
}

TEST(GroupPhases, TheFloorIsWhereTheVerdictOfASoundMachineIsBelow) {
  collbench::Run record;
  record.backend = BackendId::nccl;
  record.ranks = {{.rank = 0, .host = "n0"}, {.rank = 1, .host = "n1"}};
  record.yardstick = Yardstick{YardstickKind::detected, "hgx-h100", {}};
  Row row;
  row.measurement.key.size_bytes = 1000;
  row.measurement.pass_seconds = {2e-6};
  row.expectation.expected_seconds = 1e-6;
  row.verdict.word = VerdictWord::below;
  row.verdict.range = HealthyRange{.below = 0.8, .sound = 0.9, .high = 1.1, .source = "made"};
  record.rows.push_back(row);
  const auto outcome = [&](BurninPhase phase, std::optional<int> rail = std::nullopt) {
    return group_outcome(to_json_text(record), {phase, {0, 1}, rail}, {"n0", "n1"}).rates.at(0);
  };
  EXPECT_NEAR(outcome(BurninPhase::whole).floor, 0.8e9, 1);
  EXPECT_EQ(outcome(BurninPhase::whole).machine, "hgx-h100");
  EXPECT_TRUE(outcome(BurninPhase::whole).is_below_floor());
  EXPECT_EQ(outcome(BurninPhase::rails, 0).floor, 0) << "one NIC of each node";
  record.yardstick->kind = YardstickKind::own;
  EXPECT_EQ(outcome(BurninPhase::whole).floor, 0) << "what all nodes lack would not show";
}

TEST(GroupPhases, WhatIsNoRecordGivesNoRate) {
  const GroupOutcome outcome = group_outcome("Welcome", {}, {"n0"});
  EXPECT_THAT(outcome.rates, IsEmpty());
  EXPECT_THAT(outcome.why, HasSubstr("no record"));
}

}  // namespace
}  // namespace collbench::analysis
