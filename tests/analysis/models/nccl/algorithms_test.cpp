#include "analysis/models/nccl/algorithms.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/analysis/models/nccl/clusters.hpp"

namespace collbench::analysis::algorithms_test {
namespace {

double busbw(OperationId id, const GpuCluster& cluster) {
  return gpu_ring(operation(id), cluster).gigabytes_per_second * bus_factor(operation(id), cluster.ranks());
}

TEST(GpuRing, BusbwIsTheSlowestLink) {
  for (const OperationId id : {OperationId::all_reduce, OperationId::all_gather, OperationId::broadcast}) {
    EXPECT_NEAR(busbw(id, cluster_of("hgx-a100", 1)), 235.2, 1e-9);
    EXPECT_NEAR(busbw(id, cluster_of("hgx-a100", 2)), 190, 1e-9);
    EXPECT_NEAR(busbw(id, cluster_of("hgx-h100", 2)), 363.6, 1e-9);    // NVLink, not the 380 of the NICs
    EXPECT_NEAR(busbw(id, cluster_of("hgx-h100", 2, 1)), 47.5, 1e-9);  // the NIC of the one GPU
    EXPECT_NEAR(busbw(id, cluster_of("p5", 2, 1)), 46.5, 1e-9);        // its four
    EXPECT_NEAR(busbw(id, cluster_of("alps", 2, 1)), 23.5, 1e-9);
    for (const int ranks : {1, 2})
      EXPECT_LE(busbw(id, cluster_of("dgx-1v", 2, ranks)), 12.5);  // one for two GPUs
    EXPECT_NEAR(busbw(id, cluster_of("dgx-1v", 2, 4)),
                2 * one_nic(cluster_of("dgx-1v", 2)).gigabytes_per_second, 1e-9);
  }
}

TEST(GpuRing, NamesTheLink) {
  EXPECT_EQ(gpu_ring(operation(OperationId::all_reduce), cluster_of("p4de", 2)).limit.name,
            "4 NICs per node, 12.5 GB/s each at 84 % of line rate");
}

TEST(GpuTree, OnTwoNodesReaches1875TimesTheNics) {
  const GpuCluster cluster = cluster_of("p4de", 2);
  const AlgorithmRate tree = gpu_tree(cluster);
  EXPECT_NEAR(tree.gigabytes_per_second, 42, 1e-9);  // S leaves each node, 42 GB/s of EFA
  const double ring = gpu_ring(operation(OperationId::all_reduce), cluster).gigabytes_per_second;
  EXPECT_NEAR(tree.gigabytes_per_second / ring, 1.875, 1e-9);
}

TEST(GpuTree, OnMoreNodesTwiceTheBytesLeaveEach) {
  EXPECT_NEAR(gpu_tree(cluster_of("p4de", 3)).gigabytes_per_second, 21, 1e-9);
  EXPECT_NEAR(gpu_tree(cluster_of("p4de", 64)).gigabytes_per_second, 21, 1e-9);
}

TEST(GpuTree, TheChainAndItsChannelsBoundItWithinANode) {
  EXPECT_NEAR(gpu_tree(cluster_of("hgx-a100", 1)).gigabytes_per_second, 0.5 * 0.92 * 235.2, 1e-9);
  EXPECT_NEAR(gpu_tree(cluster_of("hgx-a100", 1, 2)).gigabytes_per_second, 0.92 * 235.2, 1e-9);
  // 8 channels of 23.6 GB/s on two nodes of 8 NICs: half of it is less than the NICs' 190.
  EXPECT_NEAR(gpu_tree(cluster_of("hgx-a100", 2)).gigabytes_per_second, 0.5 * 8 * 23.6, 1e-9);
}

TEST(GpuNvls, IsTheSwitchesRateWithinANode) {
  const auto nvls = gpu_nvls(cluster_of("hgx-h100", 1));
  ASSERT_TRUE(nvls);
  EXPECT_EQ(nvls->algorithm, GpuAlgorithm::nvls);
  EXPECT_NEAR(nvls->gigabytes_per_second, 18 * 20.6 * 0.85 * 8 / 9, 1e-9);
}

TEST(GpuNvls, AcrossNodesTheNicsMayBoundIt) {
  EXPECT_NEAR(gpu_nvls(cluster_of("hgx-h100", 2))->gigabytes_per_second, 254.9, 0.1);
  EXPECT_NEAR(gpu_nvls(cluster_of("a3-mega", 4))->gigabytes_per_second, 8 * 25 * 0.944 / 2, 1e-9);
}

TEST(GpuNvls, ARackHasLessOfItThanABoard) {
  const auto busbw = [](int nodes) {
    const GpuCluster cluster = cluster_of("gb200-nvl72", nodes);
    return gpu_nvls(cluster)->gigabytes_per_second *
           bus_factor(operation(OperationId::all_reduce), cluster.ranks());
  };
  // Published: 72 GB200 reach 847 GB/s at 8 GiB, 144 reach 820 at 16 GiB, 1440 reach 406.
  EXPECT_NEAR(busbw(18) / 847, 1, 0.1);
  EXPECT_NEAR(busbw(36) / 820, 1, 0.1);
  EXPECT_NEAR(busbw(360) / 406, 1, 0.1);
}

TEST(GpuNvls, IsNotExpectedWhereTheRunHasNone) {
  GpuCluster cluster = cluster_of("hgx-h100", 1);
  cluster.run.no_nvls = true;
  EXPECT_FALSE(gpu_nvls(cluster));
  cluster = cluster_of("hgx-h100", 2);
  cluster.run.no_nvls_tree = true;
  EXPECT_FALSE(gpu_nvls(cluster));
}

TEST(GpuNvls, NeedsHopperSwitchesAndThreeGpus) {
  EXPECT_FALSE(gpu_nvls(cluster_of("hgx-a100", 1)));
  EXPECT_FALSE(gpu_nvls(cluster_of("h100-nvl", 1, 2)));
  EXPECT_FALSE(gpu_nvls(cluster_of("hgx-h100", 1, 2)));
  EXPECT_TRUE(gpu_nvls(cluster_of("hgx-h100", 1, 3)));
}

TEST(GpuAllToAll, BusbwIsTheGpusLinksWithinANode) {
  const double rate = gpu_all_to_all(cluster_of("hgx-a100", 1)).gigabytes_per_second;
  EXPECT_NEAR(rate * 7 / 8, 235.2, 1e-9);
}

TEST(GpuAllToAll, AcrossNodesBusbwIsNOverNMinus1TimesAGpusNics) {
  for (const int nodes : {2, 3, 16}) {
    const GpuCluster cluster = cluster_of("hgx-h100", nodes);
    const double factor = bus_factor(operation(OperationId::all_to_all), cluster.ranks());
    const double ranks = cluster.ranks();
    // NVIDIA/nccl-tests issue 274: N/(N−1) × the NIC of a GPU, by the bytes that leave; busbw counts all
    // peers.
    EXPECT_NEAR(gpu_all_to_all(cluster).gigabytes_per_second * factor,
                47.5 * nodes / (nodes - 1) * (ranks - 1) / ranks, 1e-9);
  }
}

TEST(GpuScatter, LeavesTheRootsNodeThroughAllItsNics) {
  EXPECT_NEAR(gpu_scatter(cluster_of("hgx-h100", 1)).gigabytes_per_second * 7 / 8, 363.6, 1e-9);
  // 8 NICs of 47.5 GB/s carry 8 of 16 parts; NVLink, 14 of 16, would carry more.
  const AlgorithmRate two = gpu_scatter(cluster_of("hgx-h100", 2));
  EXPECT_NEAR(two.gigabytes_per_second, 363.6 * 16 / 14, 1e-9) << "the root's NVLinks are the narrower ones";
  const AlgorithmRate four = gpu_scatter(cluster_of("hgx-h100", 4));
  EXPECT_NEAR(four.gigabytes_per_second, std::min(363.6 * 32 / 28, 8 * 47.5 * 32 / 24), 1e-9);
  GpuCluster without_nvlink = cluster_of("hgx-h100", 2);
  without_nvlink.nvlinks = 0;
  without_nvlink.host_path = 50;
  EXPECT_NEAR(gpu_scatter(without_nvlink).gigabytes_per_second, std::min(50 * 16.0 / 7, 47.5 * 16 / 8), 1e-9);
}

TEST(GpuGather, ArrivesAtTheRootsOwnNicsOnly) {
  EXPECT_NEAR(gpu_gather(cluster_of("hgx-h100", 1)).gigabytes_per_second * 7 / 8, 363.6, 1e-9);
  const AlgorithmRate two = gpu_gather(cluster_of("hgx-h100", 2));
  EXPECT_NEAR(two.gigabytes_per_second, 47.5 * 16 / 8, 1e-9);
  EXPECT_THAT(two.limit.name, testing::StartsWith("1 NIC of the root, 50 GB/s"));
  GpuCluster two_nics = cluster_of("hgx-h100", 2);
  two_nics.nics = 16;
  two_nics.nics_per_gpu = 2;
  EXPECT_NEAR(gpu_gather(two_nics).gigabytes_per_second, 2 * 47.5 * 16 / 8, 1e-9);
}

TEST(GpuScatter, AndGatherLoadTheLinksThatBoundThem) {
  for (const char* machine : {"hgx-h100", "hgx-a100", "p4de", "p5", "ndv4", "gb200-nvl72"}) {
    for (const int nodes : {1, 2, 36}) {
      const GpuCluster cluster = cluster_of(machine, nodes);
      for (const OperationId id : {OperationId::scatter, OperationId::gather}) {
        const AlgorithmRate rate = id == OperationId::scatter ? gpu_scatter(cluster) : gpu_gather(cluster);
        if (rate.limit.name.starts_with("32 NCCL channels of sends")) continue;
        const LinkLoads loads = link_loads(operation(id), cluster, rate.algorithm, rate.gigabytes_per_second);
        const double nvlink =
            loads.nvlink.value_or(0) * cluster.nvlinks / gpu_link(cluster).gigabytes_per_second;
        const double nic = loads.nic.value_or(0) / one_nic(cluster).gigabytes_per_second;
        EXPECT_NEAR(std::max(nvlink, nic), 1, 1e-9)
            << machine << " × " << nodes << ", " << name(rate.algorithm);
      }
    }
  }
}

TEST(GpuSendRecv, ToOnePeerOfABoardLeavesAPartOfTheNvlinks) {
  EXPECT_NEAR(gpu_send_recv(cluster_of("hgx-h100", 1)).gigabytes_per_second, 0.82 * 363.6, 1e-9);
  EXPECT_NEAR(gpu_send_recv(cluster_of("hgx-a100", 1)).gigabytes_per_second, 0.82 * 12 * 19.6, 1e-9);
  EXPECT_NEAR(gpu_send_recv(cluster_of("hgx-h100", 1, 2)).gigabytes_per_second, 363.6, 1e-9) << "two GPUs";
  EXPECT_NEAR(gpu_send_recv(cluster_of("alps", 1)).gigabytes_per_second,
              gpu_link(cluster_of("alps", 1)).gigabytes_per_second, 1e-9)
      << "wired";
  EXPECT_NEAR(gpu_send_recv(cluster_of("hgx-b200", 1)).gigabytes_per_second, 32 * 20.3, 1e-9) << "by copies";
}

TEST(GpuSendRecv, BetweenNodesIsOneNicAsFarAsItsChannelsFillIt) {
  GpuCluster nodes = cluster_of("hgx-h100", 2);
  const AlgorithmRate unversioned = gpu_send_recv(nodes);
  EXPECT_NEAR(unversioned.gigabytes_per_second, 2 * 17.2, 1e-9);
  EXPECT_EQ(unversioned.limit.name,
            "2 NCCL channels to a peer, 17.2 GB/s each; from NCCL 2.29 on 4 of 13.2 GB/s (the version is not "
            "known)");
  EXPECT_NEAR(rate_of_later_channels(nodes), 47.5 / 34.4, 1e-9);
  nodes.run.nccl_version = 22809;
  EXPECT_EQ(gpu_send_recv(nodes).limit.name, "2 NCCL channels to a peer, 17.2 GB/s each");
  EXPECT_EQ(rate_of_later_channels(nodes), 1) << "it is told";
  nodes.run.nccl_version = 22902;
  EXPECT_NEAR(gpu_send_recv(nodes).gigabytes_per_second, 47.5, 1e-9) << "four";
  nodes.nodes = 8;
  EXPECT_NEAR(gpu_send_recv(nodes).gigabytes_per_second, 2 * 13.2, 1e-9);
  GpuCluster unequal = cluster_of("hgx-h100", 2);
  unequal.slower_nics.push_back({25, 0});
  EXPECT_NEAR(gpu_send_recv(unequal).gigabytes_per_second, 2 * 17.2, 1e-9)
      << "a slow NIC makes nothing quicker";
  // One channel of either: the later one is slower, and nothing may be quicker.
  EXPECT_EQ(rate_of_later_channels(cluster_of("hgx-h100", 16)), 1);
}

}  // namespace

}  // namespace collbench::analysis::algorithms_test
