#include "analysis/models/nccl/healthy_ranges.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "base/units.hpp"
#include "tests/analysis/models/nccl/clusters.hpp"

namespace collbench::analysis::healthy_ranges_test {
namespace {

TEST(HealthyClass, IsWhatHoldsTheRunBack) {
  EXPECT_EQ(healthy_class(OperationId::all_reduce, cluster_of("hgx-h100", 1)), HealthyClass::nvlink);
  EXPECT_EQ(healthy_class(OperationId::all_reduce, cluster_of("hgx-h100", 2)), HealthyClass::rdma);
  EXPECT_EQ(healthy_class(OperationId::all_reduce, cluster_of("hgx-h100", 9)), HealthyClass::many_nodes);
  EXPECT_EQ(healthy_class(OperationId::all_to_all, cluster_of("hgx-h100", 1)), HealthyClass::nvlink);
  EXPECT_EQ(healthy_class(OperationId::all_to_all, cluster_of("hgx-h100", 2)), HealthyClass::exchange);
  EXPECT_EQ(healthy_class(OperationId::send_recv, cluster_of("hgx-h100", 2)), HealthyClass::send_recv);
  EXPECT_EQ(healthy_class(OperationId::all_reduce, cluster_of("l40s", 2)), HealthyClass::pcie);
  GpuCluster plugin = cluster_of("hgx-h100", 2);
  plugin.transport = Transport::plugin;
  EXPECT_EQ(healthy_class(OperationId::all_to_all, plugin), HealthyClass::plugin);
}

TEST(HealthyEdges, HoldWhatTheVerdictPromises) {
  std::set<std::string_view> names;
  for (int index = 0; index <= static_cast<int>(HealthyClass::sockets); ++index) {
    const auto kind = static_cast<HealthyClass>(index);
    names.insert(name(kind));
    for (const double bytes : {67108864.0, 1073741824.0}) {
      const HealthyEdges& edges = healthy_edges(kind, bytes, 16);
      EXPECT_EQ(edges.below > 0, kind != HealthyClass::sockets) << name(kind);
      EXPECT_GE(edges.sound, 0.8) << name(kind);
      EXPECT_LE(edges.below, edges.sound) << name(kind);
      EXPECT_GE(edges.high, 1.05) << name(kind);
      // The quickest machine that was seen is not SOUND at 0.8 of its rate.
      EXPECT_GE(edges.sound, 0.8 * std::min(1.0, edges.high / 1.03)) << name(kind);
    }
  }
  EXPECT_EQ(names.size(), static_cast<std::size_t>(HealthyClass::sockets) + 1);
  // 128 ranks with 1 GiB send what 64 send with half of it.
  EXPECT_EQ(healthy_edges(HealthyClass::rdma, 1.0 * kGiB, 128),
            healthy_edges(HealthyClass::rdma, 0.5 * kGiB, 64));
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
