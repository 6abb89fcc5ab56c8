#pragma once
#include <vector>

#include "analysis/models/nccl/machine_graph.hpp"

namespace collbench::analysis {

/// The way from one node of the graph to another.
struct GraphPath {
  Distance distance = Distance::none;
  float rate = 0;          ///< of its slowest link
  std::vector<int> links;  ///< indices into MachinePaths::links, in order

  [[nodiscard]] int hops() const { return static_cast<int>(links.size()); }
};

/// A link of the graph in a list, with where it begins.
struct PlacedLink {
  int from = 0;
  GraphLink link;
};

class MachinePaths {
 public:
  MachinePaths(const MachineGraph& graph, const NcclSettings& settings);

  [[nodiscard]] const std::vector<PlacedLink>& links() const { return links_; }
  /// Between positions among the nodes of their kinds.
  [[nodiscard]] const GraphPath& path(NodeKind from_kind, int from, NodeKind to_kind, int to) const {
    return between(graph_.all(from_kind)[static_cast<std::size_t>(from)],
                   graph_.all(to_kind)[static_cast<std::size_t>(to)]);
  }
  /// The GPUs nearest to a NIC: of the highest rate, then nearest.
  [[nodiscard]] const std::vector<int>& gpus_beside(int net) const {
    return gpus_beside_[static_cast<std::size_t>(net)];
  }
  /// The NIC of a GPU for a channel: its nearest ones in turn, spread over the GPUs that share them. -1:
  /// none.
  [[nodiscard]] int net_of(int gpu, int channel) const;
  /// The GPU whose NIC this is; -1: no GPU's.
  [[nodiscard]] int gpu_of(int net) const { return gpu_of_[static_cast<std::size_t>(net)]; }

 private:
  /// Those of `kind` nearest to a node: of the highest rate, then nearest.
  [[nodiscard]] std::vector<int> nearest(NodeKind from_kind, int from, NodeKind kind) const;
  [[nodiscard]] int find_gpu_of(int net) const;
  void find_from(int base_node);
  void leave_peers_over_cpu();
  void use_c2c();
  void reach_nets(const NcclSettings& settings);
  [[nodiscard]] bool gpudirect(int gpu, int net, bool read) const;
  [[nodiscard]] int cpu_of(int gpu) const;
  [[nodiscard]] int relay_of(const GraphPath& path) const;
  void join(NodeKind via_kind, int via, NodeKind from_kind, int from, NodeKind to_kind, int to);
  [[nodiscard]] int node(NodeKind kind, int position) const {
    return graph_.all(kind)[static_cast<std::size_t>(position)];
  }
  [[nodiscard]] int count(NodeKind kind) const { return static_cast<int>(graph_.all(kind).size()); }
  [[nodiscard]] const GraphPath& between(int from, int to) const {
    return paths_[static_cast<std::size_t>(from) * graph_.nodes.size() + static_cast<std::size_t>(to)];
  }
  GraphPath& between(int from, int to) {
    return paths_[static_cast<std::size_t>(from) * graph_.nodes.size() + static_cast<std::size_t>(to)];
  }

  const MachineGraph& graph_;
  std::vector<PlacedLink> links_;
  std::vector<int> first_link_;  ///< of each node
  std::vector<GraphPath> paths_;
  std::vector<std::vector<int>> gpus_beside_;  ///< of each NIC; a search asks for them at every step
  std::vector<int> gpu_of_;                    ///< of each NIC
};

}  // namespace collbench::analysis
