#include "collectives/nccl/gpu_memory_use.hpp"

#include <gtest/gtest.h>

namespace collbench::collectives::gpu_memory_use_test {
namespace {

TEST(GpuMemoryUse, WhatIsTakenInTheFirstPassHasItsNameAndNothingElseCounts) {
  std::uint64_t free = 1'000;
  GpuMemoryUse use([&free] { return std::optional(free); });
  free -= 10;  // NCCL's kernels, loaded by a trial
  use.count(&GpuMemory::buffer_bytes);
  use.end_pass();
  EXPECT_FALSE(use.bytes());
  use.begin_pass();
  free -= 200;
  use.count(&GpuMemory::buffer_bytes);
  free -= 30;
  use.count(&GpuMemory::init_bytes);
  free -= 4;
  use.count(&GpuMemory::collective_bytes);
  free += 50;
  use.count(&GpuMemory::buffer_bytes);
  free += 5;
  use.end_pass();
  const GpuMemory expected{.init_bytes = 40, .buffer_bytes = 150, .collective_bytes = -1};
  EXPECT_EQ(use.bytes(), expected);
  free -= 100;
  use.begin_pass();
  use.count(&GpuMemory::init_bytes);
  use.end_pass();
  EXPECT_EQ(use.bytes(), expected);
}

TEST(GpuMemoryUse, OneLookThatFailsLeavesAllUnknown) {
  std::optional<std::uint64_t> free = 1'000;
  GpuMemoryUse use([&free] { return free; });
  use.begin_pass();
  EXPECT_TRUE(use.bytes());
  free.reset();
  use.count(&GpuMemory::init_bytes);
  free = 900;
  use.count(&GpuMemory::init_bytes);
  use.end_pass();
  EXPECT_FALSE(use.bytes());
}

TEST(GpuMemoryUse, NobodyAsks) {
  GpuMemoryUse use(nullptr);
  use.begin_pass();
  use.count(&GpuMemory::init_bytes);
  use.end_pass();
  EXPECT_FALSE(use.bytes());
}

}  // namespace
}  // namespace collbench::collectives::gpu_memory_use_test
