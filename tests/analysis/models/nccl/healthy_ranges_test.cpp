#include "analysis/models/nccl/healthy_ranges.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/units.hpp"
#include "tests/analysis/models/nccl/clusters.hpp"

namespace collbench::analysis::healthy_ranges_test {
namespace {

TEST(HealthyClass, IsWhatHoldsTheRunBack) {
  EXPECT_EQ(healthy_class(OperationId::all_reduce, cluster_of("hgx-h100", 1)), BandClass::nvlink);
  EXPECT_EQ(healthy_class(OperationId::all_reduce, cluster_of("hgx-h100", 2)), BandClass::rdma);
  EXPECT_EQ(healthy_class(OperationId::all_reduce, cluster_of("hgx-h100", 9)), BandClass::many_nodes);
  EXPECT_EQ(healthy_class(OperationId::all_to_all, cluster_of("hgx-h100", 1)), BandClass::nvlink);
  EXPECT_EQ(healthy_class(OperationId::all_to_all, cluster_of("hgx-h100", 2)), BandClass::exchange);
  EXPECT_EQ(healthy_class(OperationId::send_recv, cluster_of("hgx-h100", 2)), BandClass::exchange);
  EXPECT_EQ(healthy_class(OperationId::all_reduce, cluster_of("l40s", 2)), BandClass::pcie_host);
  GpuCluster plugin = cluster_of("hgx-h100", 2);
  plugin.transport = Transport::plugin;
  EXPECT_EQ(healthy_class(OperationId::all_to_all, plugin), BandClass::plugin);
}

TEST(HealthyEdges, HoldWhatTheVerdictPromises) {
  for (const OperationId id : {OperationId::all_reduce, OperationId::send_recv}) {
    for (int index = 0; index <= static_cast<int>(BandClass::sockets); ++index) {
      const auto kind = static_cast<BandClass>(index);
      for (const double bytes : {67108864.0, 1073741824.0}) {
        const HealthyEdges& edges = healthy_edges(id, kind, bytes, 16);
        EXPECT_EQ(edges.below > 0, kind != BandClass::sockets) << name(kind);
        EXPECT_GE(edges.sound, 0.8) << name(kind);
        EXPECT_LE(edges.below, edges.sound) << name(kind);
        EXPECT_GE(edges.high, 1.05) << name(kind);
        // The quickest machine that was seen is not SOUND at 0.8 of its rate.
        EXPECT_GE(edges.sound, 0.8 * std::min(1.0, edges.high / 1.03)) << name(kind);
      }
    }
  }
  const auto edges = [](OperationId id, double bytes, int ranks, BandClass kind) {
    return healthy_edges(id, kind, bytes, ranks);
  };
  // 128 ranks with 1 GiB send what 64 send with half of it.
  EXPECT_EQ(edges(OperationId::all_reduce, 1.0 * kGiB, 128, BandClass::rdma),
            edges(OperationId::all_reduce, 0.5 * kGiB, 64, BandClass::rdma));
  EXPECT_NE(edges(OperationId::all_reduce, 1.0 * kGiB, 64, BandClass::rdma),
            edges(OperationId::all_reduce, 0.5 * kGiB, 64, BandClass::rdma));
  EXPECT_NE(edges(OperationId::send_recv, 1.0 * kGiB, 16, BandClass::exchange),
            edges(OperationId::all_to_all, 1.0 * kGiB, 16, BandClass::exchange));
}

TEST(HealthyRange, NothingIsSoundWhereALostHalfWouldNotBeFound) {
  GpuCluster plugin = cluster_of("hgx-h100", 2);
  plugin.transport = Transport::plugin;
  const HealthyRange range = healthy_range(OperationId::all_reduce, 8 * kGiB, 300, plugin);
  EXPECT_FALSE(std::isfinite(range.sound));
  EXPECT_GT(range.below, 0);
  EXPECT_THAT(range.source, testing::HasSubstr("too much to detect a loss of half"));
  EXPECT_TRUE(
      std::isfinite(healthy_range(OperationId::all_reduce, 8 * kGiB, 300, cluster_of("hgx-h100", 2)).sound));
}

TEST(HealthyRange, SendRecvWithoutAVersionMayBeAsQuickAsTheLaterChannelsAre) {
  GpuCluster cluster = cluster_of("hgx-b200", 2);
  const auto high = [&cluster](OperationId id) { return healthy_range(id, kGiB, 34.4, cluster).high; };
  const double unversioned = high(OperationId::send_recv);
  const double exchange = high(OperationId::all_to_all);
  cluster.run.nccl_version = 22902;
  EXPECT_NEAR(unversioned / high(OperationId::send_recv), 47.5 / 34.4, 1e-9);
  EXPECT_EQ(exchange, high(OperationId::all_to_all));
}

TEST(HealthyRange, AProvidersLimitBindsItsMachineAtItsNodesAndSizes) {
  const auto range = [](const char* machine, int nodes, std::uint64_t bytes, double expected) {
    return healthy_range(OperationId::all_reduce, bytes, expected, cluster_of(machine, nodes));
  };
  const HealthyRange limit = range("ndv5", 1, 16 * kGiB, 488.6);
  EXPECT_DOUBLE_EQ(limit.sound, 460 / 488.6);
  EXPECT_DOUBLE_EQ(limit.below, 460 / 488.6);
  EXPECT_THAT(limit.source, testing::HasSubstr("acceptance limit of 460 GB/s"));
  const auto is_of_class = testing::Field(&HealthyRange::source, testing::HasSubstr("machines"));
  EXPECT_THAT(range("ndv5", 1, 8 * kGiB, 488.6), is_of_class) << "a smaller size";
  EXPECT_THAT(range("ndv5", 2, 16 * kGiB, 488.6), is_of_class) << "more nodes";
  EXPECT_THAT(range("hgx-h100", 1, 16 * kGiB, 488.6), is_of_class) << "another name";
  EXPECT_THAT(range("ndv5", 1, 16 * kGiB, 600), is_of_class) << "a limit below 0.8 of it clears damaged ones";
  EXPECT_THAT(healthy_range(OperationId::all_gather, 16 * kGiB, 488.6, cluster_of("ndv5", 1)), is_of_class);
  EXPECT_THAT(healthy_range(OperationId::all_reduce, 16 * kGiB, 488.6, cluster_of("ndv5", 1, 4)),
              is_of_class);
}

}  // namespace
}  // namespace collbench::analysis::healthy_ranges_test
