#include "analysis/gpu/tree.hpp"

#include <gtest/gtest.h>

#include "analysis/gpu/ring.hpp"
#include "tests/analysis/gpu/clusters.hpp"

namespace collbench::tree_test {
namespace {

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

}  // namespace
}  // namespace collbench::tree_test
