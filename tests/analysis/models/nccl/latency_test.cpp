#include "analysis/models/nccl/algorithms.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/analysis/models/nccl/clusters.hpp"

namespace collbench::analysis::latency_test {
namespace {

const Operation& all_reduce() { return operation(OperationId::all_reduce); }
const Operation& all_gather() { return operation(OperationId::all_gather); }

// Test vectors of NCCL 2.30's LL latencies: ring on 8 GPUs 15.0, AllGather 10.8, tree on 2 × 8 25.2 µs.
TEST(GpuLatency, TheFloorIsNcclsOwn) {
  EXPECT_NEAR(latency_floor_microseconds(all_reduce(), cluster_of("hgx-h100", 1)), 15.0, 1e-9);
  EXPECT_NEAR(latency_floor_microseconds(all_gather(), cluster_of("hgx-h100", 1)), 10.8, 1e-9);
  EXPECT_NEAR(latency_floor_microseconds(all_reduce(), cluster_of("hgx-h100", 2)), 25.2, 1e-9);
  EXPECT_NEAR(latency_floor_microseconds(all_reduce(), cluster_of("p4de", 2)), 161.2, 1e-9);
  EXPECT_NEAR(latency_floor_microseconds(all_gather(), cluster_of("a3-mega", 2)), 84.3, 1e-9);
}

TEST(GpuLatency, LaunchingCountsGpusOfAProcess) {
  GpuCluster cluster = cluster_of("hgx-a100", 1);
  EXPECT_EQ(launch_floor_microseconds(all_reduce(), cluster), 0);
  cluster.run.gpus_per_process = 8;
  EXPECT_NEAR(launch_floor_microseconds(all_reduce(), cluster), 34.4, 1e-9);
  cluster.run.a_thread_per_gpu = true;
  EXPECT_NEAR(launch_floor_microseconds(all_reduce(), cluster), 48, 1e-9);
}

TEST(GpuLatency, TimeGrowsWithTheSizeAndEndsAtThePlateau) {
  for (const char* machine : {"dgx-1v", "hgx-a100", "hgx-h100", "p4de", "l40s"}) {
    for (const int nodes : {1, 2, 16, 2048}) {
      const GpuCluster cluster = cluster_of(machine, nodes);
      double before = 0;
      for (double bytes = 8; bytes < 1e12; bytes *= 2) {
        const double now = gpu_microseconds(all_reduce(), cluster, bytes, 100);
        EXPECT_GT(now, before) << machine << " " << nodes << " " << bytes;
        EXPECT_GT(now, bytes / 1e5);
        before = now;
      }
      EXPECT_NEAR(before / (8 * std::exp2(36) / 1e5), 1, 0.2);
    }
  }
}

TEST(GpuLatency, TheRunsOwnSmallestTimeTakesTheFloorsPlace) {
  GpuCluster cluster = cluster_of("hgx-a100", 2);
  const double model = gpu_microseconds(all_reduce(), cluster, 1 << 20, 100);
  cluster.run.min_microseconds = 36.5;
  EXPECT_NEAR(gpu_microseconds(all_reduce(), cluster, 1 << 20, 100) - model, 36.5 - 25.2, 1e-9);
}

}  // namespace
}  // namespace collbench::analysis::latency_test
