#include "base/record/gpu_trouble.hpp"

#include <gtest/gtest.h>

namespace collbench::gpu_trouble_test {
namespace {

TEST(GpuTrouble, IsFoundByItsName) {
  for (std::size_t i = 0; i < kGpuTroubleNames.size(); ++i) {
    const auto trouble = static_cast<GpuTrouble>(i);
    EXPECT_EQ(find_gpu_trouble(name(trouble)), trouble);
  }
  EXPECT_EQ(find_gpu_trouble("gpu_idle"), std::nullopt);
}

TEST(GpuTrouble, ErrorsAreNoThrottling) {
  EXPECT_TRUE(is_throttling(GpuTrouble::sw_power_cap));
  EXPECT_TRUE(is_throttling(GpuTrouble::sync_boost));
  EXPECT_FALSE(is_throttling(GpuTrouble::ecc_corrected));
  EXPECT_FALSE(is_throttling(GpuTrouble::pcie_replays));
}

}  // namespace
}  // namespace collbench::gpu_trouble_test
