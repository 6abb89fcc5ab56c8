#pragma once

namespace collbench::analysis {

struct GpuCluster;

/// Which GPUs and NICs a NIC shares its PCIe switch with: what NCCL's search does with a slow NIC depends on
/// it.
enum class NicNeighbors {
  one_gpu,             ///< one GPU, alone or with more NICs
  gpus_without_a_nic,  ///< several GPUs, and no other NIC for them
  gpus_and_nics,       ///< several GPUs that have another NIC there
};

/// One NIC of a node, GB/s (1e9 bytes) in one direction.
struct NicLink {
  double line_rate = 0;
  double path = 0;  ///< the slowest PCIe link between it and a GPU next to it; 0: not known
  NicNeighbors neighbors = NicNeighbors::one_gpu;

  /// As NCCL counts it: the lower of both, without the transport's efficiency.
  [[nodiscard]] double nccl_rate() const;
  /// As bytes reach it: min(line rate × efficiency, PCIe).
  [[nodiscard]] double rate(double efficiency) const;

  bool operator==(const NicLink&) const = default;
};

/// How the channels of rings and trees use the NICs of a node.
struct NicChannels {
  int channels = 0;
  int most_on_a_nic = 1;  ///< channels that share the busiest of the fast NICs
  int nics = 0;           ///< that carry any
  double rate = 0;  ///< of all channels together: each carries the same bytes and all wait for the slowest
};

/// Where NCCL's plan is known (planned_node.hpp), its channels. Else, of a machine whose PCI tree is not
/// known, NCCL's search for NICs of unequal rates in short: it tries one speed after the other, a NIC carries
/// as many channels as fit into its rate, and channels × speed decides; what is slower than 0.49 of a speed
/// that gave channels is not tried. Where other nodes found fewer channels (GpuCluster::max_channels), all
/// use that many: the first of the list. Sources: NCCL 2.30 src/graph/search.cc, and what libnccl 2.28.9
/// and 2.30.7 printed for the machines of docs/notes/model-evidence.md.
[[nodiscard]] NicChannels nic_channels(const GpuCluster& cluster);

/// NICs of the highest rate, of a node: those next to the GPUs in use, by which NCCL's rings leave
/// (`collbench nccl-plan --ranks-per-node 1` of alps and p5: 1 and 4, of 4 ranks of dgx-1v: 2). They alone
/// are some GPU's own, where NVLS has its heads and sends and receives go through (NCCL 2.30
/// src/graph/topo.cc, ncclTopoGetLocalNet).
[[nodiscard]] int fast_nic_count(const GpuCluster& cluster);

/// A job that uses no more than `nics` of a node's NICs. Which ones is not known: those of the highest rate
/// are assumed.
void use_nics(GpuCluster& cluster, int nics);

}  // namespace collbench::analysis
