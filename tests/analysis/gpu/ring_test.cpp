#include "analysis/gpu/ring.hpp"

#include <gtest/gtest.h>

#include "tests/analysis/gpu/clusters.hpp"

namespace collbench::ring_test {
namespace {

double busbw(OperationId id, const GpuCluster& cluster) {
  return gpu_ring(operation(id), cluster).gigabytes_per_second * bus_factor(operation(id), cluster.ranks());
}

TEST(GpuRing, BusbwIsTheSlowestLink) {
  for (const OperationId id : {OperationId::all_reduce, OperationId::all_gather, OperationId::broadcast}) {
    EXPECT_NEAR(busbw(id, cluster_of("hgx-a100", 1)), 235.2, 1e-9);
    EXPECT_NEAR(busbw(id, cluster_of("hgx-a100", 2)), 190, 1e-9);
    EXPECT_NEAR(busbw(id, cluster_of("hgx-h100", 2)), 363.6, 1e-9);  // NVLink, not the 380 of the NICs
    // No NVLink takes part, and one GPU's Gen5 x16 feeds all the NICs.
    EXPECT_NEAR(busbw(id, cluster_of("hgx-h100", 2, 1)), 48, 1e-9);
  }
}

TEST(GpuRing, NamesTheLink) {
  EXPECT_EQ(gpu_ring(operation(OperationId::all_reduce), cluster_of("p4de", 2)).limit.name,
            "4 NICs of 12.5 GB/s a node, 84 %");
}

}  // namespace
}  // namespace collbench::ring_test
