#include "analysis/gpu/links.hpp"

#include <gtest/gtest.h>

#include "tests/analysis/gpu/clusters.hpp"

namespace collbench::links_test {
namespace {

TEST(GpuLinks, AreTheRatesThatPublishedLogsReach) {
  EXPECT_NEAR(gpu_link(cluster_of("dgx-1v", 1)).gigabytes_per_second, 134.4, 1e-9);     // 6 × 22.4
  EXPECT_NEAR(gpu_link(cluster_of("hgx-a100", 1)).gigabytes_per_second, 235.2, 1e-9);   // 12 × 19.6
  EXPECT_NEAR(gpu_link(cluster_of("hgx-h100", 1)).gigabytes_per_second, 363.6, 1e-9);   // 18 × 20.2
  EXPECT_NEAR(domain_nics(cluster_of("hgx-a100", 2)).gigabytes_per_second, 190, 1e-9);  // 8 × 25 × 0.95
  EXPECT_NEAR(domain_nics(cluster_of("p4de", 2)).gigabytes_per_second, 42, 1e-9);       // 4 × 12.5 × 0.84
}

TEST(GpuLinks, ANicGivesNoMoreThanItsPcieLink) {
  GpuCluster cluster = cluster_of("hgx-h100", 2);
  cluster.nic_path = 24;
  EXPECT_DOUBLE_EQ(domain_nics(cluster).gigabytes_per_second, 8 * 24);
  EXPECT_EQ(domain_nics(cluster).name, "the PCIe links of 8 NICs, 24.0 GB/s each");
  cluster.nic_path = 0;  // not known
  EXPECT_DOUBLE_EQ(domain_nics(cluster).gigabytes_per_second, 8 * 47.5);
}

TEST(GpuLinks, TheSmallestDomainCounts) {
  const GpuCluster ragged = cluster_of("gb200-nvl72", 19);  // 18 trays and one
  EXPECT_DOUBLE_EQ(domain_nics(ragged).gigabytes_per_second, 4 * one_nic(ragged).gigabytes_per_second);
  EXPECT_EQ(domain_nic_count(ragged), 4);
  EXPECT_EQ(domain_nics(cluster_of("hgx-h100", 2, 2)).name, "the PCIe links of 2 GPUs, 48.0 GB/s each");
  EXPECT_DOUBLE_EQ(domain_nics(cluster_of("hgx-h100", 2, 2)).gigabytes_per_second, 96);
  EXPECT_EQ(domain_nics(cluster_of("gb200-nvl72", 36)).name, "72 NICs of 50 GB/s a domain, 95 %");
}

}  // namespace
}  // namespace collbench::links_test
