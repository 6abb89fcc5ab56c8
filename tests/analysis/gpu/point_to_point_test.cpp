#include "analysis/gpu/point_to_point.hpp"

#include <gtest/gtest.h>

#include "tests/analysis/gpu/clusters.hpp"

namespace collbench::point_to_point_test {
namespace {

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

TEST(GpuSendRecv, BetweenNodesIsOneNic) {
  EXPECT_NEAR(gpu_send_recv(cluster_of("hgx-h100", 1)).gigabytes_per_second, 363.6, 1e-9);
  EXPECT_NEAR(gpu_send_recv(cluster_of("hgx-h100", 2)).gigabytes_per_second, 47.5, 1e-9);
  EXPECT_NEAR(gpu_send_recv(cluster_of("hgx-h100", 2, 1)).gigabytes_per_second, 47.5, 1e-9);
}

}  // namespace
}  // namespace collbench::point_to_point_test
