#pragma once
#include <optional>

#include "analysis/models/nccl/gpu_cluster.hpp"

namespace collbench::analysis {

/// Channels of NCCL's communicator that its sends and receives are spread over: those of its collectives, up
/// to a power of two. None where the search for them is not restated (no NVSwitch, racks, unequal NICs).
/// Source: NCCL 2.28.9 src/graph/paths.cc, ncclTopoComputeP2pChannels.
[[nodiscard]] std::optional<int> p2p_channels(const GpuCluster& cluster);

/// Of these, those that one peer on another node gets. Up to NCCL 2.28: two, and one as soon as twice the
/// ranks are more than four times the channels; at least the NICs beside a GPU. From 2.29 on: the NIC's rate
/// over 14 GB/s, and half as many while that times the ranks over 8 is more than the channels. Where the
/// version is not told, the rule up to 2.28. None as p2p_channels. Source: the same file, versions 2.21.5 to
/// 2.30.7.
[[nodiscard]] std::optional<int> channels_per_net_peer(const GpuCluster& cluster);

/// GB/s that one channel of sends sustains to another node.
[[nodiscard]] double p2p_channel_net_rate(int sm);

/// GB/s that one channel (a CTA) copies out of its GPU; none where no machine showed a bound.
[[nodiscard]] std::optional<double> p2p_channel_copy_rate(int sm);

}  // namespace collbench::analysis
