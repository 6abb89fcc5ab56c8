#include "analysis/models/nccl/algorithms.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/analysis/models/nccl/clusters.hpp"

namespace collbench::analysis::latency_test {
namespace {

const Operation& all_reduce() { return operation(OperationId::all_reduce); }
const Operation& all_gather() { return operation(OperationId::all_gather); }

AlgorithmRate at_100(GpuAlgorithm algorithm) { return {algorithm, 100, {}}; }

double ramp(const Operation& operation, const GpuCluster& cluster, double bytes, GpuAlgorithm algorithm) {
  return ramp_microseconds(operation, cluster, bytes, at_100(algorithm));
}

// NCCL 2.30's LL latencies: ring on 4 wired GPUs 10.2 µs; through NVSwitches a hop takes 1.3 for its 0.6.
TEST(GpuLatency, TheFloorIsNcclsOwn) {
  EXPECT_NEAR(latency_floor_microseconds(all_reduce(), cluster_of("alps", 1)), 10.2, 1e-9);
  EXPECT_NEAR(latency_floor_microseconds(all_reduce(), cluster_of("hgx-h100", 1)), 24.8, 1e-9);
  EXPECT_NEAR(latency_floor_microseconds(all_gather(), cluster_of("hgx-h100", 1)), 15.7, 1e-9);
  EXPECT_NEAR(latency_floor_microseconds(all_reduce(), cluster_of("hgx-h100", 2)), 35.0, 1e-9);
  EXPECT_NEAR(latency_floor_microseconds(all_reduce(), cluster_of("p4de", 2)), 161.0, 1e-9);
  EXPECT_NEAR(latency_floor_microseconds(all_gather(), cluster_of("a3-mega", 2)), 84.5, 1e-9);
}

TEST(GpuLatency, SwitchesThatReduceSpareARackItsSteps) {
  GpuCluster rack = cluster_of("gb200-nvl72", 18);
  EXPECT_NEAR(latency_floor_microseconds(all_reduce(), rack), 50, 1e-9);
  rack.run.no_nvls = true;
  EXPECT_NEAR(latency_floor_microseconds(all_reduce(), rack), 6.6 + 142 * 1.3, 1e-9);
}

TEST(GpuLatency, AnExchangeTakesItsPeersInTurn) {
  const Operation& exchange = operation(OperationId::all_to_all);
  EXPECT_NEAR(latency_floor_microseconds(exchange, cluster_of("hgx-h100", 1)), 12, 1e-9);
  EXPECT_NEAR(latency_floor_microseconds(exchange, cluster_of("gb200-nvl72", 18)), 0.85 * 72, 1e-9);
  GpuCluster one_process = cluster_of("hgx-a100", 1);
  one_process.run.gpus_per_process = 8;
  EXPECT_NEAR(latency_floor_microseconds(exchange, one_process), 80, 1e-9);
}

TEST(GpuLatency, NvlinkOfHopperFillsWithTheRootOfTheSizeOnceAPass) {
  const GpuCluster node = cluster_of("hgx-h100", 1);
  EXPECT_NEAR(ramp(all_gather(), node, 16 << 20, GpuAlgorithm::ring), 24, 1e-9);
  EXPECT_NEAR(ramp(all_reduce(), node, 16 << 20, GpuAlgorithm::nvls), 48, 1e-9);
  EXPECT_NEAR(ramp(all_reduce(), node, 1 << 30, GpuAlgorithm::nvls), 192, 1e-9);  // ends at 256 MiB
  EXPECT_NEAR(ramp(all_reduce(), cluster_of("gb200-nvl72", 18), 16 << 20, GpuAlgorithm::nvls), 72, 1e-9);
}

/// By hand: 4 channels of 20.3 GB/s carry 16 MiB to one peer, where links of 100 GB/s take 168 µs; the last
/// 512 KiB are copied again.
TEST(GpuLatency, SendsWithinADomainWaitForTheirChannels) {
  const Operation& send = operation(OperationId::send_recv);
  const double moving = (16 << 20) / 1e5;
  EXPECT_NEAR(ramp(send, cluster_of("hgx-h100", 1), 16 << 20, GpuAlgorithm::send_recv),
              (16 << 20) / 81.2e3 - moving + (512 << 10) / 20.3e3, 1e-6);
  // One channel by LL.
  EXPECT_NEAR(gpu_microseconds(send, cluster_of("gb200-nvl72", 18), 256 << 10,
                               gpu_send_recv(cluster_of("gb200-nvl72", 18))),
              12 + (256 << 10) / 5.1e3, 1e-6);
}

/// By hand: of 72 ranks each gets 1 MiB on one channel, and the fullest of 32 has three of them.
TEST(GpuLatency, AnExchangeWaitsForItsChannelsOnARackAndFillsOnABoard) {
  const Operation& exchange = operation(OperationId::all_to_all);
  EXPECT_NEAR(ramp(exchange, cluster_of("hgx-h100", 1), 16 << 20, GpuAlgorithm::pairwise), 24, 1e-9);
  const AlgorithmRate links{GpuAlgorithm::pairwise, 700, {}};
  EXPECT_NEAR(ramp_microseconds(exchange, cluster_of("gb200-nvl72", 18), 72 << 20, links),
              (3 << 20) / 20.3e3 - (72 << 20) / 7e5 + (512 << 10) / 20.3e3, 1e-6);
}

// 128 nodes of 4: a ring has 254 steps over the network, of 14 µs with the Simple protocol.
TEST(GpuLatency, ARingOfHundredsOfNodesWaitsForItsSteps) {
  const GpuCluster alps = cluster_of("alps", 128);
  const double simple = 8.4 + (1022 - 254) * 3.4 + 254 * 14.0;
  const double ll = 6.6 + (1022 - 254) * 1.0 + 254 * 2.7;
  const double floor = 6.8 + 2 * (3 * 0.6 + 7 * 5);
  EXPECT_NEAR(ramp(all_reduce(), alps, 1 << 30, GpuAlgorithm::ring), simple - floor, 1e-6);
  EXPECT_NEAR(ramp(all_reduce(), alps, 64 << 20, GpuAlgorithm::ring), ll - floor + (64 << 20) / 1e5,
              1e-6);  // half the rate
  EXPECT_NEAR(ramp(all_reduce(), alps, 64 << 20, GpuAlgorithm::tree), 48 * 7 * 8, 1e-6);
  EXPECT_NEAR(ramp(all_gather(), cluster_of("hgx-h100", 2), 1 << 20, GpuAlgorithm::ring), 32.5, 1e-6);
}

/// Over Slingshot however few bytes a step has: 24 µs from 16 KiB of a rank on, 48 from 256 KiB on.
TEST(GpuLatency, ARingOverSlingshotWaitsForMessagesInEachStep) {
  const GpuCluster polaris = cluster_of("polaris", 256);
  const double floor = latency_floor_microseconds(all_gather(), polaris);
  const auto time = [&](double part) {
    const double bytes = part * polaris.ranks();
    return ramp(all_gather(), polaris, bytes, GpuAlgorithm::ring) + bytes / 1e5 + floor;
  };
  EXPECT_LT(time(8 << 10), 1023 * 20);
  EXPECT_NEAR(time(16 << 10), 1023 * 24, 1);
  EXPECT_NEAR(time(128 << 10), 1023 * 24, 1);
  EXPECT_NEAR(time(512 << 10), 1023 * 48, 1);
  EXPECT_GT(time(8 << 20), 1023 * 80);  // of the bytes alone
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
        const double now = gpu_microseconds(all_reduce(), cluster, bytes, at_100(GpuAlgorithm::tree));
        EXPECT_GT(now, before) << machine << " " << nodes << " " << bytes;
        EXPECT_GT(now, bytes / 1e5);
        before = now;
      }
      EXPECT_NEAR(before / (8 * std::exp2(36) / 1e5), 1, 0.2);
    }
  }
}

TEST(GpuLatency, TheRunsOwnSmallestTimeReplacesTheFloor) {
  GpuCluster cluster = cluster_of("hgx-a100", 2);
  const double model = gpu_microseconds(all_reduce(), cluster, 1 << 20, at_100(GpuAlgorithm::tree));
  cluster.run.min_microseconds = 36.5;
  EXPECT_NEAR(gpu_microseconds(all_reduce(), cluster, 1 << 20, at_100(GpuAlgorithm::tree)) - model,
              36.5 - 35.0, 1e-9);
}

}  // namespace
}  // namespace collbench::analysis::latency_test
