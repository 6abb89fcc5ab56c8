#pragma once
#include <optional>
#include <string_view>

#include "analysis/models/nccl/gpu_cluster.hpp"
#include "analysis/models/nccl/links.hpp"
#include "base/record/operation.hpp"

namespace collbench::analysis {

/// How NCCL moves the bytes of an operation.
enum class GpuPattern {
  all_reduce,  ///< reduced and passed on: ring, trees, NVLS
  ring,        ///< a block of every rank once round the ring
  chain,       ///< from the root, or to it, in a pipeline along the ring
  exchange,    ///< pairs of sends and receives between all ranks
  from_root,   ///< a send of the root's to every rank
  to_root,     ///< a send of every rank's to the root
  one_flow,    ///< a send and a receive
  none,        ///< there is no model
};

/// The one list of operations that the models of GPUs have.
[[nodiscard]] GpuPattern gpu_pattern(OperationId id);

/// NCCL makes it of sends and receives alone.
[[nodiscard]] bool by_sends_and_receives(OperationId id);

/// What an algorithm reaches on large buffers, and the link that holds it there.
struct AlgorithmRate {
  GpuAlgorithm algorithm{};
  double gigabytes_per_second = 0;  ///< S / time, as the column algbw: never busbw
  LinkLimit limit;                  ///< its full rate, of which the algorithm needs a part

  bool operator==(const AlgorithmRate&) const = default;
};

/// The ring of NCCL for AllReduce, AllGather, ReduceScatter, Broadcast and Reduce. Each of its links carries
/// (bus factor) × S, so that busbw is the rate of the slowest one: a GPU's NVLinks (or its way through the
/// host), and between domains all NICs of one. docs/model.md.
[[nodiscard]] AlgorithmRate gpu_ring(const Operation& operation, const GpuCluster& cluster);

/// NCCL's double binary tree for AllReduce: a chain within each domain, trees across. Out of a GPU in
/// mid-chain 2S; out of a domain S where there are two (each is the root of one tree: busbw up to 1.875 × the
/// NICs on 2 × 8), 2S where there are more. A channel moves at most what NCCL's perChMaxTree says
/// (NCCL 2.30 src/graph/tuning.cc).
[[nodiscard]] AlgorithmRate gpu_tree(const GpuCluster& cluster);

/// The NICs' share in an AllReduce whose trees span the domains: S out of each of two, 2S out of each of
/// more.
[[nodiscard]] double tree_rate_of_nics(const GpuCluster& cluster);

/// NVLS (one domain) or NVLS-tree (several) for AllReduce: the NVSwitches reduce, and a GPU sends S(p+1)/p.
/// None below compute capability 9.0, without NVSwitches, with fewer than three GPUs a domain, or where the
/// run says that its NCCL has none. A rack's domain gets less of it than a board's, beyond two domains half.
/// Sources: NVIDIA/nccl-tests PR 239 (bytes on the wire), NCCL 2.30 src/graph/tuning.cc (nvlsEfficiency).
[[nodiscard]] std::optional<AlgorithmRate> gpu_nvls(const GpuCluster& cluster);

/// AllToAll (also AllToAllv by its links): every rank sends (p−1)/p · S, of which the part
/// for other domains goes through its share of its domain's NICs. Source: nccl-tests issue 274.
[[nodiscard]] AlgorithmRate gpu_all_to_all(const GpuCluster& cluster);

/// Scatter: the root sends each rank its S/n. What is for another node leaves by the NIC that is next to that
/// rank's counterpart on the root's node, over NVLink and the GPU there (PXN), so by all NICs of the node;
/// without NVLink by the root's own. Source: NCCL 2.28.9 src/graph/topo.cc, ncclTopoGetNetDev, and the log of
/// its host code on 2 × 8 H100 with 16 NICs ("0[0] -> 15[7] [send] via NET/…/14(7)").
[[nodiscard]] AlgorithmRate gpu_scatter(const GpuCluster& cluster);

/// Gather: each rank sends the root its S/n. By the same rule what comes from another node arrives at the
/// NICs next to the root, and at no other ("15[7] -> 0[0] [send] via NET/…/1(8)").
[[nodiscard]] AlgorithmRate gpu_gather(const GpuCluster& cluster);

/// SendRecv from rank r to r + 1: between domains one flow each way, over one NIC and the channels that NCCL
/// gives one peer.
[[nodiscard]] AlgorithmRate gpu_send_recv(const GpuCluster& cluster);

/// What a call costs its process before any GPU moves a byte, in µs: a process that drives several GPUs
/// launches on each. 0 for one process per GPU, and where the log does not tell.
[[nodiscard]] double launch_floor_microseconds(const Operation& operation, const GpuCluster& cluster);

/// NCCL's own latency of the operation with its LL protocol, the quickest algorithm (NCCL 2.30
/// src/graph/tuning.cc), with the transport's extra latency on every network hop; of sends what tables show.
[[nodiscard]] double latency_floor_microseconds(const Operation& operation, const GpuCluster& cluster);

/// What lies between the floor and S over the algorithm's rate: protocols that change, pipelines that fill,
/// and between many nodes the steps of a ring.
[[nodiscard]] double ramp_microseconds(const Operation& operation, const GpuCluster& cluster, double bytes,
                                       const AlgorithmRate& algorithm);

/// The whole: launch and GPU work overlap. With the run's own smallest time (GpuRunFacts) that takes the
/// place of the floor.
[[nodiscard]] double gpu_microseconds(const Operation& operation, const GpuCluster& cluster, double bytes,
                                      const AlgorithmRate& algorithm);

/// Channels of NCCL's communicator that its sends and receives are spread over: those of its collectives, up
/// to a power of two. None where the search for them is not restated (no NVSwitch; several racks; unequal
/// NICs). Source: NCCL 2.28.9 src/graph/paths.cc, ncclTopoComputeP2pChannels.
[[nodiscard]] std::optional<int> p2p_channels(const GpuCluster& cluster);

/// Of these, those that one peer on another node gets. Up to NCCL 2.28: two, and one as soon as twice the
/// ranks are more than four times the channels; at least the NICs beside a GPU. From 2.29 on: the NIC's rate
/// over 14 GB/s, and half as many while that times the ranks over 8 is more than the channels. Where the
/// version is not told, the rule up to 2.28. None as p2p_channels. Source: the same file, versions 2.21.5 to
/// 2.30.7.
[[nodiscard]] std::optional<int> channels_per_net_peer(const GpuCluster& cluster);

/// GB/s that one channel of sends sustains to another node; 0 is a version that is not told.
[[nodiscard]] double p2p_channel_net_rate(int nccl_version);

/// The cluster with NCCL 2.29 where the version is not told.
[[nodiscard]] GpuCluster with_later_channels(GpuCluster cluster);

/// SendRecv with_later_channels() over what is expected, at least 1: how much quicker a run may be whose
/// version is not told.
[[nodiscard]] double rate_of_later_channels(const GpuCluster& cluster);

/// How NCCL splits what goes to one peer of an NVLink domain.
struct SendParts {
  int channels = 1;
  bool low_latency = false;  ///< by LL, not by Simple

  bool operator==(const SendParts&) const = default;
};

/// Of `bytes` to one peer: few channels where many ranks share them, twice as many each time that a part
/// passes 16 MiB. LL up to 16 KiB for each channel that a peer could have (up to NCCL 2.28, and where the
/// version is not told), or has. Source: src/enqueue.cc, addP2pToPlan and scheduleP2pTasksToPlan,
/// versions 2.22.3 to 2.30.7.
[[nodiscard]] SendParts send_parts(const GpuCluster& cluster, double bytes);

/// µs that sending `bytes` to one peer, or to every other rank of one NVLink domain, takes longer than
/// `moving`, the links' own time: the fullest channel copies, and the receiver copies the last step after it
/// arrived. None before Hopper, and as p2p_channels.
[[nodiscard]] std::optional<double> send_ramp_microseconds(const GpuCluster& cluster, double bytes,
                                                           bool to_all, double moving);

/// AllReduce over SHARP: every byte of S goes up and comes down once through the NICs of a node, and is
/// gathered and spread over NVLink: 2(p−1)/p of S out of each GPU (direct), or 2S (chain). AllGather and
/// ReduceScatter by collnet_direct: NCCL's own 0.9 of the NICs (2.30 src/graph/tuning.cc). Needs two domains.
[[nodiscard]] AlgorithmRate gpu_collnet(const Operation& operation, const GpuCluster& cluster,
                                        GpuAlgorithm algorithm);

}  // namespace collbench::analysis
