#include "analysis/import/log_readers.hpp"

#include <gtest/gtest.h>

#include "analysis/import/import_log.hpp"
#include "tests/analysis/import/logs.hpp"
#include "tests/analysis/import/read_text.hpp"

namespace collbench::analysis::nccl_line_test {
namespace {

struct Noted {
  LogFacts facts;
  std::map<std::string, std::string> environment;
  std::map<std::string, LogHost> hosts;
};

Noted note(std::string_view text) {
  Noted noted;
  for (const LogLine& line : log_lines(text))
    note_nccl_line(line, noted.facts, noted.environment, noted.hosts);
  return noted;
}

constexpr std::string_view kOrigin = "n1:12:34 [0] NCCL INFO ";

TEST(NcclLine, NetworkAndNics) {
  const LogFacts facts =
      note(
          "n1:1:2 [0] NCCL INFO NET/IB : Using [0]mlx5_0:1/RoCE [1]mlx5_3:1/RoCE [RO]; OOB eth0:10.0.0.1<0>\n"
          "n1:1:2 [0] NCCL INFO NET/IB : Made virtual device [0] name=mlx5_0 speed=200000 ndevs=1\n"
          "n1:1:2 [0] NCCL INFO NET/IB : Made virtual device [2] name=mlx5_0+mlx5_3 speed=400000 ndevs=2\n"
          "n1:1:2 [0] NCCL INFO Using network AWS Libfabric\n")
          .facts;
  EXPECT_EQ(facts.nics, (LogFact<std::vector<std::string>>{{"mlx5_0", "mlx5_3"}, 1}));
  EXPECT_EQ(facts.link_layer->value, "RoCE");
  EXPECT_EQ(facts.nic_bytes_per_second, (LogFact<double>{25e9, 2}));
  EXPECT_EQ(facts.network, (LogFact<std::string>{"AWS Libfabric", 4}));
  const LogFacts of_24 = note("n1:1:2 [0] NCCL INFO NET/OFI Selected Provider is efa\n").facts;
  EXPECT_EQ(of_24.network, (LogFact<std::string>{"AWS Libfabric", 1}));
  EXPECT_FALSE(note("n1:1:2 [0] NCCL INFO NET/OFI Selected Provider is tcp\n").facts.network);
}

TEST(NcclLine, ConnectionsAreCountedByKind) {
  const LogFacts facts = note(
                             "n1:1:2 [0] NCCL INFO Channel 00/0 : 1[0] -> 0[0] [send] via NET/IB/2/GDRDMA\n"
                             "n1:1:2 [0] NCCL INFO Channel 01/0 : 1[0] -> 0[0] [send] via NET/IB/3/GDRDMA\n"
                             "n1:1:2 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[0] [receive] via NET/IB/2\n"
                             "n1:1:2 [0] NCCL INFO Channel 02/0 : 0[0] -> 1[1] via P2P/CUMEM\n")
                             .facts;
  ASSERT_EQ(facts.connections.size(), 3U);
  EXPECT_EQ(facts.connections[0], (LogConnections{"NET/IB", true, 2, 1}));
  EXPECT_EQ(facts.connections[1], (LogConnections{"NET/IB", false, 1, 3}));
  EXPECT_EQ(facts.connections[2], (LogConnections{"P2P/CUMEM", false, 1, 4}));
}

TEST(NcclLine, NamesOfConnectionsMayHoldABlankAndEndWithFlags) {
  const LogFacts facts =
      note(
          "n1:1:2 [0] NCCL INFO Channel 04/1 : 15[7] -> 2[2] [receive] via NET/AWS "
          "Libfabric/1/GDRDMA/Shared\n"
          "n1:1:2 [0] NCCL INFO Channel 05/1 : 15[7] -> 2[2] [receive] via NET/AWS Libfabric/12\n"
          "n1:1:2 [0] NCCL INFO Channel 00 : 0[0] -> 1[1] via P2P/direct pointer/read\n"
          "n1:1:2 [0] NCCL INFO Channel 01 : 0[0] -> 1[1] via P2P/direct pointer comm 0x55 nRanks 02\n"
          "n1:1:2 [0] NCCL INFO Channel 02 : 0[0] -> 9[1] [send] via NET/IB cut here 1/2 of it\n")
          .facts;
  ASSERT_EQ(facts.connections.size(), 5U);
  EXPECT_EQ(facts.connections[0], (LogConnections{"NET/AWS Libfabric", true, 1, 1}));
  EXPECT_EQ(facts.connections[1], (LogConnections{"NET/AWS Libfabric", false, 1, 2}));
  EXPECT_EQ(facts.connections[2], (LogConnections{"P2P/direct pointer/read", false, 1, 3}));
  EXPECT_EQ(facts.connections[3], (LogConnections{"P2P/direct pointer", false, 1, 4}));
  EXPECT_EQ(facts.connections[4], (LogConnections{"NET/IB", false, 1, 5}));
}

TEST(NcclLine, ConnectionsSayWhichNetworkRanAndWhetherItHadGpuDirect) {
  const auto facts = [](const std::string& lines) {
    std::string log = whole_log();
    log.insert(log.find("NCCL version"), lines);
    return *import_log(log, "log", {}).log;
  };
  const LogFacts staged = facts(
      "n1:1:2 [0] NCCL INFO NET/IB : GPU Direct RDMA Disabled for HCA 0 'mlx5_0'\n"
      "n1:1:2 [0] NCCL INFO Channel 00/0 : 1[0] -> 0[0] [send] via NET/IB/2\n");
  EXPECT_EQ(staged.network->value, "IB");
  EXPECT_FALSE(staged.gpu_direct->value);
  const LogFacts direct = facts(
      "n1:1:2 [0] NCCL INFO NET/IB : GPU Direct RDMA Disabled for HCA 1 'mlx5_1'\n"
      "n1:1:2 [0] NCCL INFO Channel 00/0 : 1[0] -> 0[0] [send] via NET/IB/2/GDRDMA\n");
  EXPECT_TRUE(direct.gpu_direct->value);
  const LogFacts bridge = facts(
      "n1:1:2 [0] NCCL INFO NET/Socket : Using [0]virbr0:192.168.122.1<0>\n"
      "n1:1:2 [0] NCCL INFO Channel 00/0 : 1[0] -> 0[0] [send] via NET/Socket/0\n");
  EXPECT_EQ(bridge.network->value, "Socket");
  EXPECT_EQ(bridge.nics->value, std::vector<std::string>{"virbr0"});
  EXPECT_FALSE(facts("").network);
}

TEST(NcclLine, TuningByNameAndByNumber) {
  const LogFacts facts = note(
                             "n1:1:2 [0] NCCL INFO AllReduce: 8388608 Bytes -> Algo NVLS_TREE proto SIMPLE "
                             "channel{Lo..Hi}={0..23}\n"
                             "n1:1:2 [0] NCCL INFO 1024 Bytes -> Algo 0 proto 1 time 12.5\n")
                             .facts;
  ASSERT_EQ(facts.tunings.size(), 2U);
  EXPECT_EQ(facts.tunings[0], (LogTuning{8388608, "nvls_tree", "simple", 24, 1}));
  EXPECT_EQ(facts.tunings[1], (LogTuning{1024, "tree", "ll128", 0, 2}));
}

TEST(NcclLine, WhatTheGraphSearchFound) {
  const LogFacts facts =
      note(
          "n1:1:2 [0] NCCL INFO               + NVL[20.0] - GPU/0-65000\n"
          "n1:1:2 [0] NCCL INFO               + NVL[240.0] - GPU/0-17000\n"
          "n1:1:2 [0] NCCL INFO Pattern 4, crossNic 0, nChannels 12, bw 20.000000/10.000000, type NVL/PIX\n"
          "n1:1:2 [0] NCCL INFO Pattern 1, crossNic 0, nChannels 6, bw 40.000000/40.000000, type NVL/PIX\n"
          "n1:1:2 [0] NCCL INFO 24 coll channels, 24 collnet channels, 16 nvls channels, 32 p2p channels\n")
          .facts;
  EXPECT_EQ(facts.ring_bytes_per_second, (LogFact<double>{240e9, 3}));
  EXPECT_EQ(facts.nvlink_least_bytes_per_second, (LogFact<double>{20e9, 1}));
  EXPECT_EQ(facts.nvlink_most_bytes_per_second, (LogFact<double>{240e9, 2}));
  EXPECT_EQ(facts.channels->value, 24);
  EXPECT_EQ(facts.nvls_channels->value, 16);
}

TEST(NcclLine, WithoutMulticastThereIsNoNvls) {
  EXPECT_EQ(note("n1:1:2 [0] NCCL INFO NVLS multicast support is not available on dev 0\n"
                 "n1:1:2 [0] NCCL INFO 24 coll channels, 24 collnet channels, 0 nvls channels\n")
                .facts.nvls_channels,
            (LogFact<int>{0, 1}));
  EXPECT_FALSE(
      note("n1:1:2 [0] NCCL INFO NVLS multicast support is available on dev 0\n").facts.nvls_channels);
}

TEST(NcclLine, TheFirstStandsAndADifferentVersionIsANote) {
  const LogFacts facts = note(
                             "n1:1:2 [0] NCCL INFO NCCL version 2.26.2+cuda12.8\n"
                             "n2:1:2 [0] NCCL INFO NCCL version 2.26.5+cuda12.9\n")
                             .facts;
  EXPECT_EQ(facts.nccl->value, "2.26.2+cuda12.8");
  ASSERT_EQ(facts.notes.size(), 1U);
  EXPECT_NE(facts.notes[0].find("versions differ in one job"), std::string::npos);
}

TEST(NcclLine, VariablesAndTheCommunicator) {
  const Noted noted =
      note(std::string(kOrigin) + "NCCL_ALGO set by environment to RING\n" + std::string(kOrigin) +
           "comm 0x55 rank 0 nRanks 16 nNodes 2 localRanks 8 localRank 0 MNNVL 0\n");
  EXPECT_EQ(noted.environment.at("NCCL_ALGO"), "RING");
  EXPECT_EQ(noted.facts.ranks->value, 16);
  EXPECT_EQ(noted.facts.nodes->value, 2);
  EXPECT_EQ(noted.facts.ranks_per_node->value, 8);
}

}  // namespace
}  // namespace collbench::analysis::nccl_line_test
