#pragma once
#include <string>
#include <vector>

#include "analysis/models/nccl/gpu_generations.hpp"
#include "topology/graph/topology.hpp"

namespace collbench::analysis {

// A node as NCCL's search for channels sees it: devices, links with NCCL's own rates, and the ways between
// GPUs and NICs. Restated from NCCL 2.30.7 (src/graph/topo.cc: the graph; paths.cc: the ways; topo.h: the
// rates), so that what the search does with an unequal machine can be asked without NCCL. Rates are float, as
// NCCL's are: whether one more channel fits is a comparison of them.

/// What the user may set of it.
struct NcclSettings {
  bool pxn = true;    ///< not NCCL_PXN_DISABLE=1: a NIC may be reached through the GPU next to it
  int cross_nic = 2;  ///< NCCL_CROSS_NIC

  bool operator==(const NcclSettings&) const = default;
};

enum class NodeKind { gpu, device, pcie, nvswitch, cpu, nic, net };
inline constexpr std::size_t kNodeKinds = 7;

enum class LinkKind { local, nvlink, c2c, pcie, system, network };

/// How far, nearest first: NCCL compares them by this order (src/include/graph.h).
enum class Distance { local, nvlink, nvlink_via_gpu, c2c, pix, pxb, p2c, pxn, phb, sys, network, none };

/// One direction.
struct GraphLink {
  LinkKind kind = LinkKind::local;
  int to = 0;      ///< index into MachineGraph::nodes
  float rate = 0;  ///< GB/s
};

struct GraphNode {
  NodeKind kind = NodeKind::pcie;
  std::vector<GraphLink> links;  ///< fastest first, the one up to the CPU last
  int device = -1;   ///< position in Host::gpus or Host::nics; of a GPU and of its device the same
  std::string card;  ///< of a net: ports of one card share it
  int port = 0;
  float rate = 0;  ///< of a net
  bool gpudirect = false;
};

enum class CpuKind { other, intel, amd };

struct MachineGraph {
  std::vector<GraphNode> nodes;
  std::vector<int> of_kind[kNodeKinds];               // NOLINT(*-avoid-c-arrays): indexed by the enumeration
  GpuGeneration generation = GpuGeneration::unknown;  ///< the oldest of all GPUs
  CpuKind cpu = CpuKind::other;
  bool x86 = true;

  [[nodiscard]] const std::vector<int>& all(NodeKind kind) const {
    return of_kind[static_cast<std::size_t>(kind)];
  }
};

/// The graph of a host's first `ranks` GPUs and of the NICs in `nics` (positions), or an empty one where the
/// host's PCI tree does not show where they hang. PCIe links have the width that NCCL reads: of GPUs that of
/// now, of NICs and switches the most that both ends could have.
[[nodiscard]] MachineGraph machine_graph(const topology::Host& host, int ranks, const std::vector<int>& nics);

}  // namespace collbench::analysis
