#include "analysis/models/nccl/algorithms.hpp"

#include <algorithm>
#include <cmath>

namespace collbench::analysis {
namespace {

// NCCL 2.30 src/graph/tuning.cc, LL column, µs: base latencies, one hop over NVLink, PCIe, the network; and
// its network overhead, which a hop within a node waits for once there are several.
constexpr double kRingBase = 6.6;
constexpr double kTreeBase = 6.8;
constexpr double kNvlinkHop = 0.6;
constexpr double kPcieHop = 1.0;
constexpr double kRingNetHop = 2.7;
constexpr double kTreeNetHop = 5.0;
constexpr double kNetOverhead = 1.0;

// Published logs: 8 × A100, one process with one thread (34.4 µs in all); 8 × V100, a thread per GPU.
constexpr double kGroupedLaunch = 4.3;
constexpr double kAllToAllPeer = 10;  // 8 × A100: 85 µs at 32 B, for each of 8 peers
constexpr double kSendRecvCall = 20;  // no log: two of those
// Logs of 1 to 4 nodes: t − S/rate is nearly flat from 1 MiB to 1 GiB, growing 2 to 4 times over that range.
constexpr double kRampAtMiB = 45;
constexpr double kRampPerDoubling = 30;
// 72, 144 and 1,440 GB200 in NVLink racks: t − S/rate from 512 MiB on is 0.6, 0.8 and 4.7 ms (published
// logs).
constexpr double kRackRampAtMiB = 138;
constexpr double kRackRampPerRank = 1.06;
constexpr double kRampBelowMiB = 0.35;
constexpr double kRampAboveMiB = 0.15;
// Launch and work overlap, and neither hides the other quite: the cube root of the sum of cubes (8 × A100).
constexpr double kOverlap = 3;

double waiter(double a, double b) {
  return std::pow(std::pow(a, kOverlap) + std::pow(b, kOverlap), 1 / kOverlap);
}

double ring_floor(const Operation& operation, const GpuCluster& cluster, double hop, double extra) {
  const bool twice = gpu_pattern(operation.id) == GpuPattern::all_reduce;
  const double steps = (twice ? 2 : 1) * (cluster.ranks() - 1);
  const int domains = cluster.domains();
  const double crossings = domains == 1 ? 0 : (twice ? 2 : 1) * (domains - 1);
  const double step = domains > 1 ? std::max(hop, kNetOverhead) : hop;
  return kRingBase + (steps - crossings) * step + crossings * (kRingNetHop + extra);
}

double tree_floor(const GpuCluster& cluster, double hop, double extra) {
  const double levels = std::floor(std::log2(cluster.domains()));
  return kTreeBase + 2 * ((cluster.ranks_per_domain() - 1) * hop + levels * (kTreeNetHop + extra));
}

}  // namespace

double launch_floor_microseconds(const Operation& operation, const GpuCluster& cluster) {
  const int gpus = cluster.run.gpus_per_process.value_or(1);
  if (gpus < 2) return 0;
  if (!cluster.run.a_thread_per_gpu) return gpus * kGroupedLaunch;
  const GpuPattern pattern = gpu_pattern(operation.id);
  return gpus * (pattern == GpuPattern::all_reduce ? 6.0 : pattern == GpuPattern::chain ? 1.7 : 4.2);
}

double latency_floor_microseconds(const Operation& operation, const GpuCluster& cluster) {
  const double hop = cluster.nvlinks > 0 ? kNvlinkHop : kPcieHop;
  const double extra = cluster.domains() > 1 ? traits(cluster.transport).extra_hop_microseconds : 0;
  switch (gpu_pattern(operation.id)) {
    case GpuPattern::all_reduce:
      return std::min(ring_floor(operation, cluster, hop, extra), tree_floor(cluster, hop, extra));
    case GpuPattern::chain:
      return kRingBase + (cluster.domains() == 1 ? hop : kRingNetHop + extra);
    case GpuPattern::one_flow:
      return kSendRecvCall + extra;
    case GpuPattern::ring:
      return ring_floor(operation, cluster, hop, extra);
    case GpuPattern::exchange:
    case GpuPattern::from_root:
    case GpuPattern::to_root:
      return kAllToAllPeer * cluster.ranks_per_domain() + extra;
    case GpuPattern::none:
      return 0;
  }
  return 0;
}

double ramp_microseconds(const Operation& operation, const GpuCluster& cluster, double bytes) {
  if (by_sends_and_receives(operation.id))
    return 0;  // no step waits for another (8 × A100 AllToAll: none seen)
  const double mebibytes = bytes / (1 << 20);
  double at_one = kRampAtMiB + kRampPerDoubling * std::log2(cluster.domains());
  if (cluster.nvlink_rack()) {
    at_one = std::max(at_one, kRackRampAtMiB + kRackRampPerRank * cluster.ranks());
  }
  return at_one * std::pow(mebibytes, mebibytes < 1 ? kRampBelowMiB : kRampAboveMiB);
}

double gpu_microseconds(const Operation& operation, const GpuCluster& cluster, double bytes, double plateau) {
  const double floor = latency_floor_microseconds(operation, cluster);
  const double moving = ramp_microseconds(operation, cluster, bytes) + bytes / (1e3 * plateau);
  const double launch = launch_floor_microseconds(operation, cluster);
  if (!cluster.run.min_microseconds) return launch > 0 ? waiter(launch, floor + moving) : floor + moving;
  const double own = *cluster.run.min_microseconds;
  return launch > floor ? waiter(own, floor + moving) : own + moving;
}

}  // namespace collbench::analysis
