#include "tools/nccl_plan/plan/nccl_debug_log.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/error.hpp"
#include "tools/nccl_plan/tests/plan/rank_logs.hpp"

namespace collbench::analysis {
namespace {

TEST(NcclJobLog, TheLogsOfAllRanksGiveThePlan) {
  const auto logs = all_logs();
  const NcclPlan plan = nccl_plan_of(logs, 2);
  EXPECT_EQ(plan.ranks, 4);
  EXPECT_EQ(plan.nodes, 2);
  EXPECT_EQ(plan.collective_channels, 2);
  EXPECT_EQ(plan.nvls_channels, 16);
  EXPECT_EQ(plan.p2p_channels, 8);
  EXPECT_EQ(plan.p2p_channels_per_peer, 4);
  EXPECT_EQ(plan.rings, (std::vector<std::vector<int>>{{0, 1, 3, 2}, {0, 2, 3, 1}}));
  EXPECT_EQ(plan.tree_parents, (std::vector<std::vector<int>>{{-1, 0, 0, 2}, {2, 0, -1, 2}}));
  EXPECT_EQ(plan.nvls_heads, (std::vector<std::vector<int>>{{0, 2}, {1, 3}}));
  ASSERT_EQ(plan.graphs.size(), 2U);
  EXPECT_EQ(plan.graphs[0][0].channel[1], (NcclGraphChannel{1, 0, {1, 0}}));
  EXPECT_EQ(plan.graphs[1][0].channel[0], (NcclGraphChannel{10, 1, {2, 3}}));  // NICs are hexadecimal
}

TEST(NcclJobLog, GpusOfADomainOfSeveralNodesAreKnownByTheirSystem) {
  std::vector<NcclRankLog> logs(4);
  for (int rank = 0; rank < 4; ++rank) {
    NcclRankLog& log = logs[static_cast<std::size_t>(rank)];
    log = read_nccl_rank_log(info("MNNVL 1 cliqueId 0 cliqueSize 4 cliqueRank " + std::to_string(rank)));
    log.rank = rank;
    log.ranks = 4;
    log.pci_address = rank % 2 == 0 ? "f000" : "2f000";
    log.graphs = {NcclSearchGraph{NcclAlgorithm::ring, 4, 0, 1, 45e9, 45e9, "NVL", "PIX", {}}};
    log.graph_devices = {{NcclGraphDevices{"", "", {"0-f000", "1-f000", "1-2f000", "0-2f000", "2-f000"}}}};
  }
  const NcclPlan plan = nccl_plan_of(logs, 2);
  EXPECT_EQ(plan.nodes_per_domain, 2);
  EXPECT_EQ(plan.domains(), 1);
  for (const auto& graphs : plan.graphs)
    EXPECT_EQ(graphs[0].channel[0].ranks, (std::vector<int>{0, 2, 3, 1}));
}

TEST(NcclJobLog, AConnectionIsWhatBothEndsSay) {
  const auto logs = all_logs();
  const NcclPlan plan = nccl_plan_of(logs, 2);
  EXPECT_EQ(plan.connections,
            (std::vector<NcclConnection>{{0, 2, 0, 0, 1, true, std::nullopt}, {1, 0, 2, 1, 0, false, 1}}));
}

TEST(NcclJobLog, GraphsOfOldVersionsNameRanks) {
  const NcclRankLog log = read_nccl_rank_log(
      info("comm 0x7f rank 0 nranks 2 cudaDev 0 nvmlDev 0 busId f000 commId 0xb - Init START") +
      info("Pattern 4, crossNic 0, nChannels 1, bw 30.000000/30.000000, type NVL/PIX, sameChannels 1") +
      info(" 0 : NET/1 GPU/1 GPU/0 NET/1"));
  const NcclPlan plan = nccl_plan_of(std::vector<NcclRankLog>{log, log}, 2);
  EXPECT_EQ(plan.graphs.at(0).at(0).channel.at(0), (NcclGraphChannel{1, 1, {1, 0}}));
}

TEST(NcclJobLog, ARingThatIsNoneIsNotKnown) {
  auto logs = all_logs();
  logs[1].ring_next[0] = 0;    // too short
  logs[2].ring_next.erase(1);  // a rank that says nothing
  const NcclPlan plan = nccl_plan_of(logs, 2);
  EXPECT_EQ(plan.rings, (std::vector<std::vector<int>>{{}, {}}));
}

TEST(NcclJobLog, WithoutACommunicatorThereIsNoPlan) {
  EXPECT_THROW((void)nccl_plan_of({}, 8), Error);
  EXPECT_THROW((void)nccl_plan_of(std::vector<NcclRankLog>(2), 2), Error);
}

}  // namespace
}  // namespace collbench::analysis
