#include "analysis/gpu/nvls.hpp"

#include <gtest/gtest.h>

#include "tests/analysis/gpu/clusters.hpp"

namespace collbench::nvls_test {
namespace {

TEST(GpuNvls, IsTheSwitchesRateWithinANode) {
  const auto nvls = gpu_nvls(cluster_of("hgx-h100", 1));
  ASSERT_TRUE(nvls);
  EXPECT_EQ(nvls->name, "nvls");
  EXPECT_NEAR(nvls->gigabytes_per_second, 18 * 20.6 * 0.85 * 8 / 9, 1e-9);
}

TEST(GpuNvls, AcrossNodesTheNicsMayBoundIt) {
  EXPECT_NEAR(gpu_nvls(cluster_of("hgx-h100", 2))->gigabytes_per_second, 254.9, 0.1);
  EXPECT_NEAR(gpu_nvls(cluster_of("a3-mega", 4))->gigabytes_per_second, 8 * 25 * 0.944 / 2, 1e-9);
}

TEST(GpuNvls, NeedsHopperSwitchesAndThreeGpus) {
  EXPECT_FALSE(gpu_nvls(cluster_of("hgx-a100", 1)));
  EXPECT_FALSE(gpu_nvls(cluster_of("h100-nvl", 1, 2)));
  EXPECT_FALSE(gpu_nvls(cluster_of("hgx-h100", 1, 2)));
  EXPECT_TRUE(gpu_nvls(cluster_of("hgx-h100", 1, 3)));
}

}  // namespace
}  // namespace collbench::nvls_test
