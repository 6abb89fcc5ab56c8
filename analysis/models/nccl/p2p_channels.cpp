#include "analysis/models/nccl/algorithms.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <vector>

#include "analysis/models/nccl/gpu_generations.hpp"
#include "analysis/models/nccl/links.hpp"
#include "analysis/models/nccl/nccl_cost.hpp"

namespace collbench::analysis {
namespace {

// One channel to another node (published). Up to NCCL 2.28: 8 to 64 nodes of B200 17.2, as much for each of
// two on 2 and 4 nodes; 8 nodes of 4 GH200 over Slingshot 18.3. Later: 10 nodes of H100 12.5 for each of two,
// B200 13.0 for each of two on 8 nodes and 14.5 on 16 and 32; their middle.
constexpr double kNetRate = 17.2;
constexpr double kLaterNetRate = 13.2;
constexpr double kCountedNetRate = 14;  // NCCL_P2P_PER_CHANNEL_NET_BW, 2.29.2 and later
constexpr int kFirstByRate = 22900;     // NCCL_VERSION_CODE: channels by the NIC's rate, LL by those in use
constexpr int kPeersPerBatch = 8;       // NCCL_MAX_DEV_WORK_P2P_PER_BATCH
constexpr int kDomainChannels = 32;     // of A100, H100, B200 and GB200 by libnccl 2.28.9 (`nccl-plan`)
// src/init.cc and src/enqueue.cc: a step of Simple (NCCL_P2P_NVL_CHUNKSIZE) and of LL (its buffer over 8),
// the share of one that is worth a channel, those of a channel before there are more, NCCL_P2P_LL_THRESHOLD.
constexpr double kStep = 512 << 10;
constexpr double kLowLatencyStep = 64 << 10;
constexpr double kMinPart = 1.0 / 8;
constexpr double kMaxPart = 32;
constexpr double kLowLatencyBytes = 16 << 10;

int up_to_power_of_two(int value) {
  return static_cast<int>(std::bit_ceil(static_cast<unsigned>(std::max(1, value))));
}

/// From `least` channels on, as many as keep each part of `bytes` below 32 steps.
int channels_of_parts(int least, int most, double bytes, double step) {
  int channels = static_cast<int>(std::min<double>(least, std::ceil(bytes / (kMinPart * step))));
  while (bytes > channels * kMaxPart * step && channels <= most / 2) channels *= 2;
  return channels;
}

/// Parts on the fullest channel while a rank sends to all others: round r begins at channel r, its bits
/// reversed (src/include/channel.h, ncclP2pChannelBaseForRound).
int fullest_channel(int channels, int parts, int ranks) {
  std::vector<int> loads(static_cast<std::size_t>(channels));
  for (int round = 1; round < ranks; ++round) {
    int base = 0;
    for (int bit = 1; bit < channels; bit *= 2) base = 2 * base + ((round & bit) != 0 ? 1 : 0);
    for (int part = 0; part < parts; ++part) ++loads[static_cast<std::size_t>((base + part) % channels)];
  }
  return std::ranges::max(loads);
}

}  // namespace

std::optional<int> p2p_channels(const GpuCluster& cluster) {
  if (cluster.domains() == 1)
    return cluster.nvswitch && cluster.nvlinks > 0 ? std::optional(kDomainChannels) : std::nullopt;
  GpuCluster used = cluster;  // NCCL's rings pass through the NICs of the GPUs in use
  used.planned.reset();       // which is of all of them
  used.nics = used_nic_count(cluster);
  const auto setup = nccl_setup(used);
  if (!setup) return std::nullopt;
  return up_to_power_of_two(setup->job.collective_channels);
}

std::optional<int> channels_per_net_peer(const GpuCluster& cluster) {
  const auto channels = p2p_channels(cluster);
  if (!channels) return std::nullopt;
  const int nics = std::max(1, cluster.nics_per_gpu);
  if (cluster.run.nccl_version < kFirstByRate) {
    const int each = 2 * cluster.ranks() > 4 * *channels ? 1 : 2;
    return std::min(*channels, up_to_power_of_two(std::max(each, nics)));
  }
  const int by_rate = static_cast<int>(std::ceil(std::floor(nics * cluster.nic_line_rate) / kCountedNetRate));
  int each = up_to_power_of_two(std::max(nics, by_rate));
  const int batches = (cluster.ranks() + kPeersPerBatch - 1) / kPeersPerBatch;
  while (each > 1 && each * batches > *channels) each /= 2;
  return each;
}

double p2p_channel_net_rate(int nccl_version) {
  return nccl_version < kFirstByRate ? kNetRate : kLaterNetRate;
}

GpuCluster with_later_channels(GpuCluster cluster) {
  if (cluster.run.nccl_version == 0) cluster.run.nccl_version = kFirstByRate;
  return cluster;
}

double rate_of_later_channels(const GpuCluster& cluster) {
  return std::max(1.0, gpu_send_recv(with_later_channels(cluster)).gigabytes_per_second /
                           gpu_send_recv(cluster).gigabytes_per_second);
}

SendParts send_parts(const GpuCluster& cluster, double bytes) {
  const int most = p2p_channels(cluster).value_or(1);
  int least = most;
  while (least > 1 && least * cluster.ranks() > most) least /= 2;
  const int simple = channels_of_parts(least, most, bytes, kStep);
  const bool by_use = cluster.run.nccl_version >= kFirstByRate;
  if (bytes > (by_use ? simple : most) * kLowLatencyBytes) return {simple, false};
  return {by_use ? simple : channels_of_parts(least, most, bytes, kLowLatencyStep), true};
}

std::optional<double> send_ramp_microseconds(const GpuCluster& cluster, double bytes, bool to_all,
                                             double moving) {
  const auto channels = p2p_channels(cluster);
  const NcclGeneration& generation = nccl_generation(cluster.generation);
  if (!channels || generation.copy_rate == 0) return std::nullopt;
  const SendParts parts = send_parts(cluster, bytes);
  const double part = bytes / parts.channels;
  const double copied = part * (to_all ? fullest_channel(*channels, parts.channels, cluster.ranks()) : 1);
  if (parts.low_latency) return std::max(0.0, copied / (1e3 * generation.low_latency_copy_rate) - moving);
  const double rate = 1e3 * generation.copy_rate;
  return std::max(0.0, copied / rate - moving) + std::min(part, kStep) / rate;
}

}  // namespace collbench::analysis
