#include "analysis/models/nccl/gpu_generations.hpp"

#include <gtest/gtest.h>

#include <array>

namespace collbench::analysis::gpu_generations_test {
namespace {

using topology::generation_of;
using topology::GpuGeneration;

/// What the models ask, by NCCL's own rules on compute capabilities.
TEST(NcclGenerations, ByComputeCapability) {
  for (const int sm : {0, 37, 60, 70, 75, 80, 86, 87, 89, 90, 100, 103, 120}) {
    const GpuGeneration generation = generation_of(sm);
    EXPECT_EQ(generation == GpuGeneration::unknown, sm == 0) << sm;
    EXPECT_EQ(generation >= GpuGeneration::ampere, sm >= 80) << sm;
    EXPECT_EQ(generation > GpuGeneration::ampere, sm > 80) << sm;
    EXPECT_EQ(generation >= GpuGeneration::hopper, sm >= 90) << sm;
    EXPECT_EQ(generation >= GpuGeneration::blackwell, sm >= 100) << sm;
    for (const int other : {37, 80, 86, 87, 89, 100, 103, 120})
      EXPECT_EQ(generation < generation_of(other), sm < other) << sm << " and " << other;

    const NcclGeneration& nccl = nccl_generation(generation);
    EXPECT_EQ(nccl.node_speeds.front(), sm >= 100 ? 90 : sm >= 90 ? 60 : 40) << sm;
    EXPECT_EQ(nccl.network_speeds.front(), sm >= 100 ? 96 : 48) << sm;
    EXPECT_EQ(nccl.network_speeds[1], sm >= 100 ? 86 : sm >= 90 ? 45 : 30) << sm;
    EXPECT_EQ(at_nodes(nccl.max_ll, 1), sm >= 100 ? 282 : sm >= 90 ? 141 : sm >= 80 ? 87.7 : 39) << sm;
    EXPECT_EQ(at_nodes(nccl.max_tree, 2), sm >= 100 ? 42.8 : sm >= 90 ? 41.4 : sm >= 80 ? 23.6 : 18.5) << sm;
    EXPECT_EQ(at_nodes(nccl.max_nvls_tree, 8), sm >= 100 ? 80 : sm >= 90 ? 45.5 : sm >= 80 ? 17.8 : 10) << sm;
    EXPECT_EQ(nccl.nvls_efficiency, sm >= 100 ? 0.74 : sm >= 90 ? 0.85 : 0) << sm;
    EXPECT_EQ(nccl.to_one_peer, sm >= 80 && sm < 100 ? 0.82 : 1) << sm;
    EXPECT_EQ(nccl.copy_rate, sm >= 90 ? 20.3 : 0) << sm;
    EXPECT_EQ(nccl.copies_bound_sends, sm >= 100) << sm;
  }
}

}  // namespace
}  // namespace collbench::analysis::gpu_generations_test
