#include "analysis/models/nccl/algorithms.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "analysis/models/nccl/links.hpp"
#include "analysis/models/nccl/nccl_cost.hpp"

namespace collbench::analysis {
namespace {

constexpr int kBlackwell = 100;
constexpr int kHopper = 90;
// One channel a peer, SendRecv of 1 to 32 GiB: 10 nodes of H100 24.9 to 25.2 GB/s, 8 to 64 nodes of B200 17.2
// (published). A channel has 8 steps of 128 KiB under way (NCCL_STEPS, NCCL_P2P_NET_CHUNKSIZE), so these are
// round trips of 42 and 61 µs.
constexpr double kHopperNetRate = 24.9;
constexpr double kBlackwellNetRate = 17.2;
constexpr double kNcclNetRate = 14;  // what NCCL counts with: NCCL_P2P_PER_CHANNEL_NET_BW, 2.29.2 and later
// SendRecv within a node of B200: 650 GB/s over 32 channels (published).
constexpr double kBlackwellCopyRate = 20.3;
constexpr int kFirstByRate = 22900;  // NCCL_VERSION_CODE: channels by the NIC's rate
constexpr int kPeersPerBatch = 8;    // NCCL_MAX_DEV_WORK_P2P_PER_BATCH
constexpr int kMinNodeChannels = 24;

int up_to_power_of_two(int value) {
  return static_cast<int>(std::bit_ceil(static_cast<unsigned>(std::max(1, value))));
}

}  // namespace

std::optional<int> p2p_channels(const GpuCluster& cluster) {
  GpuCluster used = cluster;  // NCCL's rings pass through the NICs of the GPUs in use
  used.planned.reset();       // which is of all of them
  used.nics = used_nic_count(cluster);
  const auto setup = nccl_setup(used);
  if (!setup) return std::nullopt;
  const int found = setup->job.collective_channels;
  return up_to_power_of_two(cluster.domains() == 1 ? std::max(found, kMinNodeChannels) : found);
}

std::optional<int> channels_per_net_peer(const GpuCluster& cluster) {
  const auto channels = p2p_channels(cluster);
  if (!channels) return std::nullopt;
  const int nics = std::max(1, cluster.nics_per_gpu);
  if (cluster.run.nccl_version < kFirstByRate) {
    const int each = 2 * cluster.ranks() > 4 * *channels ? 1 : 2;
    return std::min(*channels, up_to_power_of_two(std::max(each, nics)));
  }
  const int by_rate = static_cast<int>(std::ceil(std::floor(nics * cluster.nic_line_rate) / kNcclNetRate));
  int each = up_to_power_of_two(std::max(nics, by_rate));
  const int batches = (cluster.ranks() + kPeersPerBatch - 1) / kPeersPerBatch;
  while (each > 1 && each * batches > *channels) each /= 2;
  return each;
}

double p2p_channel_net_rate(int sm) {
  if (sm >= kBlackwell) return kBlackwellNetRate;
  return sm >= kHopper ? kHopperNetRate : kNcclNetRate;
}

std::optional<double> p2p_channel_copy_rate(int sm) {
  return sm >= kBlackwell ? std::optional(kBlackwellCopyRate) : std::nullopt;
}

}  // namespace collbench::analysis
