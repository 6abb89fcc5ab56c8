#include "tools/nccl_plan/plan/nccl_debug_log.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tools/nccl_plan/tests/plan/rank_logs.hpp"

namespace collbench::analysis {
namespace {

TEST(NcclDebugLog, SaysWhoWroteIt) {
  const NcclRankLog log = read_nccl_rank_log(log_of_rank_0());
  EXPECT_EQ(log.version, "2.30.7+cuda12.9");
  EXPECT_EQ(log.rank, 0);
  EXPECT_EQ(log.ranks, 4);
  EXPECT_EQ(log.pci_address, "f000");
  EXPECT_EQ(log.network, "IB");
  EXPECT_EQ(log.nics, (std::vector<std::string>{"mlx5_0", "mlx5_3"}));
  EXPECT_EQ(log.warnings, std::vector<std::string>{"Something is odd"});
}

TEST(NcclDebugLog, ReadsTheGraphs) {
  const NcclRankLog log = read_nccl_rank_log(log_of_rank_0());
  ASSERT_EQ(log.graphs.size(), 3U);
  EXPECT_EQ(log.graphs[0], (NcclSearchGraph{NcclAlgorithm::ring, 4, 2, 2, 48e9, 24e9, "NVL", "PIX", {}}));
  EXPECT_EQ(log.graphs[1].algorithm, NcclAlgorithm::tree);
  EXPECT_EQ(log.graphs[1].inter_type, "PXB");
  EXPECT_EQ(log.graphs[2].algorithm, NcclAlgorithm::nvls);
  ASSERT_EQ(log.graph_devices[0].size(), 2U);
  EXPECT_EQ(log.graph_devices[0][1].nic_in, "0-1");
  EXPECT_EQ(log.graph_devices[0][1].nic_out, "0-0");
  EXPECT_EQ(log.graph_devices[0][1].gpus, (std::vector<std::string>{"0-2d000", "0-f000"}));
}

TEST(NcclDebugLog, ASecondTreePatternIsTheCollNetChain) {
  const std::string pattern =
      ", crossNic 0, nChannels 1, bw 20.000000/20.000000, type NVL/PIX, sameChannels 1";
  const NcclRankLog log = read_nccl_rank_log(info("Pattern 4" + pattern) + info("Pattern 3" + pattern) +
                                             info("Pattern 3" + pattern) + info("Pattern 6" + pattern) +
                                             info("Pattern 5" + pattern));
  std::vector<std::string> algorithms;
  for (const NcclSearchGraph& graph : log.graphs) algorithms.emplace_back(name(graph.algorithm));
  EXPECT_EQ(algorithms,
            (std::vector<std::string>{"ring", "tree", "collnet_chain", "collnet_direct", "nvls"}));
}

TEST(NcclDebugLog, ReadsTheTuningTableByItsHeading) {
  const NcclRankLog log = read_nccl_rank_log(log_of_rank_0());
  ASSERT_EQ(log.tuning.size(), 5U);  // one of the six has no bandwidth
  EXPECT_EQ(log.tuning[0].algorithm, "tree");
  EXPECT_EQ(log.tuning[0].protocol, "ll");
  EXPECT_DOUBLE_EQ(log.tuning[0].latency_seconds, 25.2e-6);
  EXPECT_DOUBLE_EQ(log.tuning[0].bytes_per_second, 16.6e9);
  EXPECT_EQ(log.tuning[4].algorithm, "ring");
  EXPECT_EQ(log.tuning[4].protocol, "simple");
  EXPECT_DOUBLE_EQ(log.tuning[4].bytes_per_second, 204.8e9);
}

TEST(NcclDebugLog, ReadsChoicesOfOldAndNewVersions) {
  const NcclRankLog log = read_nccl_rank_log(log_of_rank_0());
  EXPECT_EQ(log.choices, (std::vector<NcclLoggedChoice>{{"tree", "ll", 1, std::nullopt},
                                                        {"nvls_tree", "simple", 16, std::nullopt}}));
  const auto old = last_nccl_choice(info("AllReduce: 8 Bytes -> Algo 0 proto 0 time 1.5") +
                                    info("1048576 Bytes -> Algo 2 proto 1 time 40.500000"));
  ASSERT_TRUE(old);
  EXPECT_EQ(old->algorithm, "collnet_direct");
  EXPECT_EQ(old->protocol, "ll128");
  EXPECT_DOUBLE_EQ(old->expected_seconds.value_or(0), 40.5e-6);
  EXPECT_FALSE(last_nccl_choice(info("Ring 00 : 2 -> 0 -> 1")));
}

TEST(NcclDebugLog, LinesThatAreNotWholeSayNothing) {
  const std::string cut = info("Pattern 4, crossNic 2, nChannels") + info(" 0 : NET/0-0 GPU/0-f000") +
                          info("Pattern 9, crossNic 2, nChannels 2, bw 48/24, type NVL/PIX") +
                          info("Ring 00 : 2 -> 0") + info("Ring 99999 : 2 -> 0 -> 1") +
                          info("Trees [0] 1/2") + info("Channel 00/0 : 2[0] -> [receive] via NET/IB/1") +
                          info("7 Bytes -> Algo") + info("x coll channels, -4 nvls channels") +
                          info("AllReduce |    25.2/  16.6 |");
  const NcclRankLog log = read_nccl_rank_log(cut);
  EXPECT_TRUE(log.graphs.empty());
  EXPECT_TRUE(log.ring_next.empty());
  EXPECT_TRUE(log.tree_parent.empty());
  EXPECT_TRUE(log.receives.empty());
  EXPECT_TRUE(log.choices.empty());
  EXPECT_TRUE(log.tuning.empty());
  EXPECT_EQ(log.nvls_channels, 0);
}

TEST(NcclDebugLog, TheLastTreeOfALineThatNCCLCutIsLeftAlone) {
  std::string line = "Trees";
  while (line.size() < 1000) line += " [0] 1/-1/-1->0->-1";
  line += " [1] 1/-1/-1->0->12";
  line.resize(1023, ' ');
  EXPECT_EQ(read_nccl_rank_log(info(line)).tree_parent, (std::map<int, int>{{0, -1}}));
}

}  // namespace
}  // namespace collbench::analysis
