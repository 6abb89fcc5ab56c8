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
// The same table has 0.6 through NVSwitches, too; measured is twice as much. AllGather of 4 to 72 GB200: 1.36
// a step (openxla's table). 2 × 8 A100: 36 and 38 µs at 8 B, where 0.6 gives 25 and 1.3 gives 35.
constexpr double kSwitchedHop = 1.3;
// Simple less LL of the same table, a ring's: base, step within a node, step over the network.
constexpr double kSimpleBase = 8.4 - 6.6;
constexpr double kSimpleStep = 3.4;
constexpr double kSimpleNetHop = 14.0 - 2.7;
// AllReduce by NVSwitches that reduce: NCCL's 25 µs for each of its two passes (32 to 72 GB200: 50 to 58).
constexpr double kNvlsFloor = 50;

// Published logs: 8 × A100, one process with one thread (34.4 µs in all; AllToAll, 8 sends and receives for
// each GPU, 85); 8 × V100, a thread per GPU.
constexpr double kGroupedLaunch = 4.3;
constexpr double kGroupedExchange = 10;
// Sends and receives by a process a GPU: 12 to 25 µs of 2 to 18 GPUs, 54 and 63 of 64 and 72 (openxla's
// tables of 8 H100 and of GB200).
constexpr double kSendFloor = 12;
constexpr double kExchangePeer = 0.85;
constexpr double kSendNetHop = 8;  // no log: NCCL's 14 µs of a hop by Simple, less a part of kSendFloor
// Logs of 1 to 4 nodes: t − S/rate is nearly flat from 1 MiB to 1 GiB, growing 2 to 4 times over that range.
constexpr double kRampAtMiB = 45;
constexpr double kRampPerDoubling = 20;
// 144 and 1,440 GB200 in NVLink racks: t − S/rate from 512 MiB on is 0.8 and 4.7 ms (published logs).
constexpr double kRackRampAtMiB = 138;
constexpr double kRackRampPerRank = 1.06;
constexpr double kRampBelowMiB = 0.35;
constexpr double kRampAboveMiB = 0.15;
// From Hopper on within an NVLink domain: chunks that grow with the size cost its square root, once for each
// pass of the data. 8 H100, 4 and 8 GB200 (openxla's tables) and 4 GH200 (alps.tsv) agree within half of it.
constexpr double kFillPerPass = 6;
constexpr double kFillEnds = 32;  // MiB of each GPU: rates of 1 GiB on 8 GPUs no longer show it
constexpr double kFillOfRack =
    18;  // AllReduce: 32 to 72 GB200, and 0.6 ms at 512 MiB of a published log of 72
// Over libfabric's plugins, for each level of the tree: 2 × p5, and 2, 8, 32 and 128 nodes of 4 GH200 over
// Slingshot, 45 to 100 at 1 MiB. A tree's grows as above, until every node has 16 MiB.
constexpr double kFabricFill = 48;
constexpr double kFabricFillEnds = 16;
// A step of a ring of A100 over Slingshot: 20 to 32 µs for 16 to 128 KiB of each rank, 39 to 56 for 256 KiB
// to 1 MiB, as of two messages, with 32 ranks as with 2,160 (AllGather of Polaris,
// argonne-lcf/alcf-nccl-tests; 24 is the mean of its 8 nodes). Rings of Alps, of GH200, show no more than
// NCCL's own 14.
constexpr double kFabricMessage = 24;
constexpr double kFirstMessage = 16 << 10;
constexpr double kSecondMessage = 256 << 10;
// Launch and work overlap, and neither hides the other quite: the cube root of the sum of cubes (8
// × A100).
constexpr double kOverlap = 3;

double waiter(double a, double b) {
  return std::pow(std::pow(a, kOverlap) + std::pow(b, kOverlap), 1 / kOverlap);
}

bool passes_twice(const Operation& operation) {
  const GpuPattern pattern = gpu_pattern(operation.id);
  return pattern == GpuPattern::all_reduce || pattern == GpuPattern::chain;
}

/// Steps of a ring within the domains, and between them.
struct RingSteps {
  double within = 0;
  double across = 0;
};

RingSteps ring_steps(const Operation& operation, const GpuCluster& cluster) {
  const int times = gpu_pattern(operation.id) == GpuPattern::all_reduce ? 2 : 1;
  const int domains = cluster.domains();
  const double across = domains == 1 ? 0 : times * (domains - 1);
  return {times * (cluster.ranks() - 1) - across, across};
}

double hop_of(const GpuCluster& cluster) {
  if (cluster.nvlinks == 0) return kPcieHop;
  return cluster.nvswitch ? kSwitchedHop : kNvlinkHop;
}

/// A step of a ring within a node, by LL.
double ring_hop(const GpuCluster& cluster) {
  return cluster.domains() > 1 ? std::max(hop_of(cluster), kNetOverhead) : hop_of(cluster);
}

double extra_hop(const GpuCluster& cluster) {
  return cluster.domains() > 1 ? traits(cluster.transport).extra_hop_microseconds : 0;
}

double ring_floor(const Operation& operation, const GpuCluster& cluster) {
  const RingSteps steps = ring_steps(operation, cluster);
  return kRingBase + steps.within * ring_hop(cluster) + steps.across * (kRingNetHop + extra_hop(cluster));
}

double tree_floor(const GpuCluster& cluster) {
  const double levels = std::floor(std::log2(cluster.domains()));
  return kTreeBase + 2 * ((cluster.ranks_per_domain() - 1) * hop_of(cluster) +
                          levels * (kTreeNetHop + extra_hop(cluster)));
}

/// Within a domain of Hopper's NVLinks, or later ones.
double nvlink_fill(const Operation& operation, const GpuCluster& cluster, double mebibytes) {
  const GpuPattern pattern = gpu_pattern(operation.id);
  double fill = kFillPerPass * (passes_twice(operation) ? 2 : 1);
  if (pattern == GpuPattern::all_reduce && cluster.nvlink_rack()) fill = kFillOfRack;
  return fill * std::sqrt(std::min(mebibytes, kFillEnds * cluster.ranks()));
}

double ramp_across(const Operation& operation, const GpuCluster& cluster, double mebibytes, bool tree) {
  const double levels = std::log2(cluster.domains());
  const double fabric = traits(cluster.transport).by_libfabric ? kFabricFill * levels : 0;
  double at_one = std::max(kRampAtMiB + kRampPerDoubling * levels, fabric);
  if (cluster.nvlink_rack()) at_one = std::max(at_one, kRackRampAtMiB + kRackRampPerRank * cluster.ranks());
  double ramp = at_one * std::pow(mebibytes, mebibytes < 1 ? kRampBelowMiB : kRampAboveMiB);
  if (tree && mebibytes > 1)
    ramp = std::max(ramp, fabric * std::sqrt(std::min(mebibytes, kFabricFillEnds * cluster.domains())));
  return cluster.domains() == 1 || passes_twice(operation) ? ramp : ramp / 2;
}

/// What a ring between domains waits for in its steps above the common floor: its own latency by LL, and what
/// Simple takes more. NCCL takes LL, at half the rate, while that is quicker.
double ring_ramp(const Operation& operation, const GpuCluster& cluster, double moving) {
  const RingSteps steps = ring_steps(operation, cluster);
  const double simple =
      kSimpleBase + steps.within * (kSimpleStep - ring_hop(cluster)) + steps.across * kSimpleNetHop;
  return ring_floor(operation, cluster) - latency_floor_microseconds(operation, cluster) +
         std::min(simple, moving);
}

/// What the steps of a ring wait for messages of a provider's fabric, however little they carry.
double fabric_wait(const Operation& operation, const GpuCluster& cluster, double bytes) {
  if (cluster.transport != Transport::plugin || cluster.generation >= GpuGeneration::hopper) return 0;
  const double part = bytes / cluster.ranks();
  const int messages = (part >= kFirstMessage ? 1 : 0) + (part >= kSecondMessage ? 1 : 0);
  const RingSteps steps = ring_steps(operation, cluster);
  return (steps.within + steps.across) * messages * kFabricMessage;
}

}  // namespace

double launch_floor_microseconds(const Operation& operation, const GpuCluster& cluster) {
  const int gpus = cluster.run.gpus_per_process.value_or(1);
  if (gpus < 2) return 0;
  const GpuPattern pattern = gpu_pattern(operation.id);
  if (!cluster.run.a_thread_per_gpu) return gpus * kGroupedLaunch;
  return gpus * (pattern == GpuPattern::all_reduce ? 6.0 : pattern == GpuPattern::chain ? 1.7 : 4.2);
}

double latency_floor_microseconds(const Operation& operation, const GpuCluster& cluster) {
  const bool across = cluster.domains() > 1;
  const double extra = extra_hop(cluster);
  const int gpus = cluster.run.gpus_per_process.value_or(1);
  const double grouped = gpus > 1 ? kGroupedExchange * gpus : 0;
  const double send = kSendFloor + (across ? kSendNetHop + extra : 0);
  switch (gpu_pattern(operation.id)) {
    case GpuPattern::all_reduce: {
      const double floor = std::min(ring_floor(operation, cluster), tree_floor(cluster));
      return !across && gpu_nvls(cluster) ? std::min(floor, kNvlsFloor) : floor;
    }
    case GpuPattern::chain:
      return kRingBase + (across ? kRingNetHop + extra : hop_of(cluster));
    case GpuPattern::one_flow:
      return send;
    case GpuPattern::ring:
      return ring_floor(operation, cluster);
    case GpuPattern::exchange:
    case GpuPattern::from_root:
    case GpuPattern::to_root:
      return send - kSendFloor + std::max({kSendFloor, kExchangePeer * cluster.ranks(), grouped});
    case GpuPattern::none:
      return 0;
  }
  return 0;
}

double ramp_microseconds(const Operation& operation, const GpuCluster& cluster, double bytes,
                         const AlgorithmRate& algorithm) {
  const double mebibytes = bytes / (1 << 20);
  const double moving = bytes / (1e3 * algorithm.gigabytes_per_second);
  const bool by_sends = by_sends_and_receives(operation.id);
  if (cluster.domains() == 1 && cluster.nvlinks > 0 && cluster.generation >= GpuGeneration::hopper) {
    // On a board each of up to 7 peers has channels of its own, and AllToAll fills as what passes all ranks.
    const bool to_all = gpu_pattern(operation.id) != GpuPattern::one_flow;
    const double to_peer = to_all ? bytes / cluster.ranks() : bytes;
    const bool by_channels = by_sends && (!to_all || cluster.nvlink_rack());
    const auto ramp = by_channels ? send_ramp_microseconds(cluster, to_peer, to_all, moving) : std::nullopt;
    return ramp ? *ramp : nvlink_fill(operation, cluster, mebibytes);
  }
  if (by_sends) return 0;  // no step waits for another (8 × A100 AllToAll: none seen)
  const bool is_ring = algorithm.algorithm == GpuAlgorithm::ring;
  const double ramp = ramp_across(operation, cluster, mebibytes, !is_ring);
  if (!is_ring || cluster.domains() == 1 || gpu_pattern(operation.id) == GpuPattern::chain) return ramp;
  const double waiting =
      fabric_wait(operation, cluster, bytes) - moving - latency_floor_microseconds(operation, cluster);
  return std::max({ramp, ring_ramp(operation, cluster, moving), waiting});
}

double gpu_microseconds(const Operation& operation, const GpuCluster& cluster, double bytes,
                        const AlgorithmRate& algorithm) {
  const double floor = latency_floor_microseconds(operation, cluster);
  const double moving = ramp_microseconds(operation, cluster, bytes, algorithm) +
                        bytes / (1e3 * algorithm.gigabytes_per_second);
  const double launch = launch_floor_microseconds(operation, cluster);
  if (!cluster.run.min_microseconds) return launch > 0 ? waiter(launch, floor + moving) : floor + moving;
  const double own = *cluster.run.min_microseconds;
  return launch > floor ? waiter(own, floor + moving) : own + moving;
}

}  // namespace collbench::analysis
