// The figures below were worked out from NCCL's formulas apart from this code, for Hopper GPUs, Intel CPUs
// and a network without latency of its own. They are what NCCL expects, not what anything measured.
#include "analysis/models/nccl/nccl_cost.hpp"

#include <gtest/gtest.h>

#include <string>

#include "base/units.hpp"
#include "topology/machines/reference_machines.hpp"

namespace collbench::analysis::nccl_cost_test {

namespace {

struct Vector {
  NcclAlgorithm algorithm;
  NcclProtocol protocol;
  double latency_microseconds;
  double gigabytes_per_second;
  double mebibyte_microseconds;
  double gibibyte_microseconds;
};

void expect_all(OperationId operation, const NcclJob& job, const NcclGraph& graph,
                const std::vector<Vector>& vectors) {
  constexpr double kExact = 1e-3;
  for (const Vector& v : vectors) {
    SCOPED_TRACE(std::string(name(v.algorithm)) + " " + std::string(name(v.protocol)));
    const auto cost = nccl_cost(operation, v.algorithm, v.protocol, job, graph);
    ASSERT_TRUE(cost);
    EXPECT_NEAR(cost->latency_microseconds, v.latency_microseconds, kExact * v.latency_microseconds);
    EXPECT_NEAR(cost->gigabytes_per_second, v.gigabytes_per_second, kExact * v.gigabytes_per_second);
    const auto microseconds = [&](std::uint64_t size) {
      return 1e6 * nccl_seconds(operation, v.algorithm, v.protocol, job, graph, size).value_or(0);
    };
    EXPECT_NEAR(microseconds(kMiB), v.mebibyte_microseconds, kExact * v.mebibyte_microseconds);
    EXPECT_NEAR(microseconds(kGiB), v.gibibyte_microseconds, kExact * v.gibibyte_microseconds);
  }
}

constexpr auto kRing = NcclAlgorithm::ring;
constexpr auto kTree = NcclAlgorithm::tree;
constexpr auto kLl = NcclProtocol::ll;
constexpr auto kLl128 = NcclProtocol::ll128;
constexpr auto kSimple = NcclProtocol::simple;

constexpr NcclGraph kOneNode{.channels = 12, .within_node = 30, .across_nodes = 30, .nvlink = true};
constexpr NcclGraph kNodes{.channels = 8, .within_node = 48, .across_nodes = 48, .nvlink = true};
constexpr NcclJob kEight{
    .ranks = 8, .nodes = 1, .generation = GpuGeneration::hopper, .collective_channels = 24};
constexpr NcclJob kTwoByEight{
    .ranks = 16, .nodes = 2, .generation = GpuGeneration::hopper, .collective_channels = 16};
constexpr NcclJob kFourByEight{
    .ranks = 32, .nodes = 4, .generation = GpuGeneration::hopper, .collective_channels = 16};

TEST(NcclCost, AllReduceOfEight) {
  expect_all(OperationId::all_reduce, kEight, kOneNode,
             {{kRing, kLl, 15.0, 80.571, 28.014, 13341.6},
              {kRing, kLl128, 40.6, 189.257, 46.140, 5714.1},
              {kRing, kSimple, 56.0, 205.714, 61.097, 5275.6},
              {kTree, kLl, 15.2, 43.579, 63.323, 24654.2},
              {kTree, kLl128, 31.5, 128.8, 45.069, 8368.0},
              {kTree, kSimple, 64.4, 165.6, 77.064, 6548.3}});
}

TEST(NcclCost, AllGatherOfEight) {
  expect_all(OperationId::all_gather, kEight, kOneNode,
             {{kRing, kLl, 10.8, 161.143, 17.307, 6674.1},
              {kRing, kLl128, 27.3, 378.514, 30.070, 2864.0},
              {kRing, kSimple, 32.2, 411.429, 34.749, 2642.0}});
}

TEST(NcclCost, AllReduceOfTwoByEight) {
  expect_all(OperationId::all_reduce, kTwoByEight, kNodes,
             {{kRing, kLl, 40.0, 20.8, 90.412, 51662.2},
              {kRing, kLl128, 75.2, 156.587, 81.896, 6932.4},
              {kRing, kSimple, 131.6, 204.8, 189.360, 5427.1},
              {kTree, kLl, 25.2, 19.5, 132.746, 55088.9},
              {kTree, kLl128, 48.5, 146.8, 60.405, 7362.8},
              {kTree, kSimple, 92.4, 165.6, 105.064, 6576.3}});
}

TEST(NcclCost, AllReduceOfFourByEight) {
  expect_all(
      OperationId::all_reduce, kFourByEight, kNodes,
      {{kRing, kSimple, 282.8, 198.194, 401.211, 5813.6}, {kTree, kSimple, 120.4, 144.0, 134.964, 7576.9}});
}

TEST(NcclCost, WhatNcclDoesNotHaveHasNoEntry) {
  EXPECT_FALSE(nccl_cost(OperationId::all_gather, kTree, kSimple, kEight, kOneNode));
  EXPECT_FALSE(nccl_cost(OperationId::all_reduce, NcclAlgorithm::pat, kSimple, kEight, kOneNode));
  EXPECT_FALSE(nccl_cost(OperationId::all_reduce, NcclAlgorithm::nvls, kLl, kEight, kOneNode));
  EXPECT_FALSE(nccl_cost(OperationId::all_to_all, kRing, kSimple, kEight, kOneNode));
  EXPECT_FALSE(nccl_cost(OperationId::all_reduce, kRing, kSimple, {.ranks = 1}, kOneNode));
}

TEST(NcclCost, NvlsHasNoBaseLatency) {
  const auto cost = nccl_cost(OperationId::all_reduce, NcclAlgorithm::nvls, kSimple, kEight, kOneNode);
  ASSERT_TRUE(cost);
  EXPECT_NEAR(cost->latency_microseconds, 25, 1e-9);
  // 12 channels at min(30 × 0.85 × 11/12 × 2, 30) GB/s, × 8/14
  EXPECT_NEAR(cost->gigabytes_per_second, 12 * 30 * 8.0 / 14, 1e-9);
}

TEST(NcclCost, PatIsForOneRankPerNode) {
  const NcclJob job{.ranks = 8, .nodes = 8, .generation = GpuGeneration::hopper, .collective_channels = 16};
  const auto cost = nccl_cost(OperationId::all_gather, NcclAlgorithm::pat, kSimple, job, kNodes);
  ASSERT_TRUE(cost);
  EXPECT_NEAR(cost->latency_microseconds, 8 + 3 * 14 / 3.5 + 8 * 2.8, 1e-9);
  EXPECT_NEAR(cost->gigabytes_per_second, 8 * 48 * 0.75, 1e-9);
}

GpuCluster cluster(const char* machine, int nodes) {
  return gpu_cluster(*topology::find_reference_machine(machine), nodes, 0);
}

TEST(NcclSetup, EightH100InOneNodeHaveTwelveChannelsOfThirty) {
  const auto setup = nccl_setup(cluster("hgx-h100", 1));
  ASSERT_TRUE(setup);
  EXPECT_EQ(setup->graph.channels, 12);
  EXPECT_EQ(setup->graph.within_node, 30);
  EXPECT_EQ(setup->job.collective_channels, 24);
}

TEST(NcclSetup, AcrossNodesThereIsAChannelForEachNic) {
  const auto setup = nccl_setup(cluster("hgx-h100", 2));
  ASSERT_TRUE(setup);
  EXPECT_EQ(setup->graph.channels, 8);
  EXPECT_EQ(setup->graph.across_nodes, 48);
  EXPECT_EQ(setup->job.collective_channels, 16);
  EXPECT_EQ(setup->job.ranks, 16);
}

/// 2 × 8 H100 with two NICs of 200 Gb/s beside each GPU, as NCCL 2.28.9 searched, tuned and logged it over
/// that machine's topology file (OCI BM.GPU.H100.8), without its GPUs: pattern 3, 16 channels, 24/22 GB/s.
TEST(NcclSetup, WhereNoNicHasTwoGpusTheTreeIsPlainAndFasterWithinTheNode) {
  GpuCluster sixteen = cluster("hgx-h100", 2);
  sixteen.planned.reset();
  sixteen.nics = 16;
  sixteen.nic_line_rate = 25;
  sixteen.nic_path = 22.5;  // 180 Gb/s
  const auto setup = nccl_setup(sixteen);
  ASSERT_TRUE(setup);
  EXPECT_EQ(setup->graph.channels, 16);
  EXPECT_EQ(setup->graph.within_node, 22);
  EXPECT_EQ(setup->tree.channels, 16);
  EXPECT_EQ(setup->tree.within_node, 24);
  EXPECT_EQ(setup->tree.across_nodes, 22);
  EXPECT_TRUE(setup->job.plain_tree);
  const auto expect = [&](NcclProtocol protocol, double microseconds, double rate) {
    const auto cost =
        nccl_cost(OperationId::all_reduce, NcclAlgorithm::tree, protocol, setup->job, setup->tree);
    ASSERT_TRUE(cost);
    EXPECT_NEAR(cost->latency_microseconds, microseconds, 0.05);
    EXPECT_NEAR(cost->gigabytes_per_second, rate, 0.05);
  };
  expect(NcclProtocol::ll, 25.2, 16.6);
  expect(NcclProtocol::ll128, 48.5, 140.8);
  expect(NcclProtocol::simple, 92.4, 150.1);
}

TEST(NcclSetup, TreesAreBalancedWithinANodeBeforeHopperAndBesideNicsWithTwoGpus) {
  EXPECT_FALSE(nccl_setup(cluster("hgx-h100", 1))->job.plain_tree);
  EXPECT_TRUE(nccl_setup(cluster("hgx-h100", 2))->job.plain_tree);
  EXPECT_FALSE(nccl_setup(cluster("hgx-a100", 2))->job.plain_tree);
  GpuCluster shared = cluster("hgx-h100", 2);
  shared.planned.reset();
  shared.one_gpu_per_nic = false;
  EXPECT_FALSE(nccl_setup(shared)->job.plain_tree);
}

TEST(NcclSetup, KnowsWhoseTheCpusAre) {
  EXPECT_TRUE(nccl_setup(cluster("ndv4", 2))->job.amd_cpu);
  EXPECT_FALSE(nccl_setup(cluster("hgx-h100", 2))->job.amd_cpu);
  // NCCL 2.28.9 over that machine's topology file: 204.4 µs, and 131.6 on Intel.
  const auto setup = nccl_setup(cluster("ndv4", 2));
  const auto cost = nccl_cost(OperationId::all_reduce, kRing, kSimple, setup->job, setup->graph);
  EXPECT_NEAR(cost->latency_microseconds, 204.4, 0.05);
}

TEST(NcclSetup, ChannelsNeverCarryMoreThanTheNvlinks) {
  for (const char* machine : {"hgx-a100", "hgx-h100", "p5", "hgx-b200"}) {
    for (const int ranks : {2, 8, 16, 64, 72}) {
      for (const int nics : {1, 4, 8, 32, 72}) {
        GpuCluster wide = cluster(machine, 2);
        wide.planned.reset();
        wide.ranks_per_node = ranks;
        wide.nics = nics;
        const auto setup = nccl_setup(wide);
        ASSERT_TRUE(setup);
        // 20.6 and 40.1 GB/s a link by NCCL's own table; each GPU but the last of a channel forwards it.
        const double links = wide.nvlinks * (wide.generation >= GpuGeneration::blackwell ? 40.1
                                             : wide.generation >= GpuGeneration::hopper  ? 20.6
                                                                                         : 20.0);
        const double carried =
            setup->graph.channels * setup->graph.within_node * (ranks - 1) / static_cast<double>(ranks);
        EXPECT_LE(carried, links) << machine << ", " << ranks << " GPUs, " << nics << " NICs";
        EXPECT_LE(setup->graph.channels, 128);
      }
    }
  }
}

TEST(NcclSetup, WithoutNvswitchNothingIsSaid) {
  GpuCluster bridged = cluster("hgx-h100", 1);
  bridged.nvswitch = false;
  EXPECT_FALSE(nccl_setup(bridged));
}

TEST(NcclChoice, SmallIsLlAndLargeIsSimple) {
  const auto small = nccl_choice(OperationId::all_reduce, 8, cluster("hgx-h100", 1));
  ASSERT_TRUE(small);
  EXPECT_EQ(small->protocol, NcclProtocol::ll);
  EXPECT_NEAR(small->seconds, 15.0e-6, 0.1e-6);
  const auto large = nccl_choice(OperationId::all_reduce, kGiB, cluster("hgx-h100", 1));
  ASSERT_TRUE(large);
  EXPECT_EQ(large->algorithm, NcclAlgorithm::nvls);
  EXPECT_EQ(large->protocol, NcclProtocol::simple);
  EXPECT_NEAR(large->seconds, 3972.6e-6, 5e-6);
}

/// What NCCL 2.30.7 itself expected of what it chose, over the simulated GPUs of these machines.
TEST(NcclChoice, IsThatOfTheLibrary) {
  struct Seen {
    const char* machine;
    int nodes;
    OperationId operation;
    std::uint64_t size_bytes;
    NcclAlgorithm algorithm;
    double microseconds;
  };
  using enum NcclAlgorithm;
  constexpr auto kAllReduce = OperationId::all_reduce;
  constexpr auto kAllGather = OperationId::all_gather;
  for (const Seen& seen : {Seen{"hgx-h100", 1, kAllReduce, 16 * kMiB, nvls, 86.7},
                           Seen{"hgx-h100", 1, kAllGather, kGiB, ring, 2642.0},
                           Seen{"hgx-h100", 2, kAllReduce, kMiB, tree, 62.5},
                           Seen{"hgx-h100", 2, kAllReduce, kGiB, nvls_tree, 4428.3},
                           Seen{"hgx-b200", 1, kAllReduce, kGiB, nvls, 2634.8},
                           Seen{"hgx-b200", 2, kAllReduce, 64 * kMiB, nvls_tree, 383.1},
                           Seen{"hgx-b300", 2, kAllGather, kGiB, ring, 1380.7},
                           Seen{"hgx-h800", 4, kAllReduce, 256 * kMiB, nvls_tree, 2606.0},
                           Seen{"ndv4", 2, kAllReduce, kGiB, ring, 10771.9}}) {
    SCOPED_TRACE(std::string(seen.machine) + " × " + std::to_string(seen.nodes) + ", " +
                 std::to_string(seen.size_bytes) + " B");
    const auto choice = nccl_choice(seen.operation, seen.size_bytes, cluster(seen.machine, seen.nodes));
    ASSERT_TRUE(choice);
    EXPECT_EQ(choice->algorithm, seen.algorithm);
    EXPECT_NEAR(choice->seconds * 1e6, seen.microseconds, 0.005 * seen.microseconds);
  }
}

/// On 2 × 1 of 8 H100 libnccl 2.30.7 takes one NIC: 22.4 ms for 1 GiB, and not the 3.0 ms of eight.
TEST(NcclChoice, OfAPartOfTheGpusOfSeveralNodesNothingIsSaid) {
  const topology::ReferenceMachine& machine = *topology::find_reference_machine("hgx-h100");
  for (const int ranks : {1, 2, 4}) {
    EXPECT_FALSE(nccl_choice(OperationId::all_reduce, kGiB, gpu_cluster(machine, 2, ranks)));
    EXPECT_EQ(nccl_choice(OperationId::all_reduce, kGiB, gpu_cluster(machine, 1, ranks)).has_value(),
              ranks > 1);
  }
}

TEST(NcclChoice, AllToAllIsNotChosenByTheTable) {
  EXPECT_FALSE(nccl_choice(OperationId::all_to_all, kMiB, cluster("hgx-h100", 1)));
}

}  // namespace

}  // namespace collbench::analysis::nccl_cost_test
