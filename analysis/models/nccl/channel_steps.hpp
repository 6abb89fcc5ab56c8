#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include "analysis/models/nccl/channel_search.hpp"
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

// NCCL 2.30 src/include/nccl_device.h and src/graph/search.cc.
inline constexpr int kMaxChannelsOfNccl = 64;
inline constexpr int kNoStepsNeeded = -1;  ///< steps left when nothing better is possible

/// A plan while it is searched for.
struct Draft {
  ChannelPlan plan;  ///< nets are positions among the graph's nets here
  int min_channels = 1;
  int max_channels = kMaxChannelsOfNccl / 2;
  float bw_within = 0;
  float bw_across = 0;
  int hops = 0;
};

enum class Order { free, by_pci, as_before };
/// Whether the next GPU is chosen by its way to the NIC, too: at the GPU before the NIC it is.
enum class ByNet { no, next, later };

/// Depth first over NICs and GPUs, as NCCL does it: every way that a channel can take with the speed and the
/// allowances of the draft, one channel after the other, until the steps are used up.
class ChannelSearch {
 public:
  ChannelSearch(const MachineGraph& graph, const MachinePaths& paths, bool several_nodes)
      : graph_(graph), paths_(paths), inter_(several_nodes) {
    for (const PlacedLink& link : paths.links()) {
      rates_.push_back(link.link.rate);
      const auto back = std::find_if(paths.links().begin(), paths.links().end(), [&](const PlacedLink& each) {
        return each.from == link.link.to && each.link.to == link.from && each.link.kind == link.link.kind;
      });
      reverse_.push_back(back == paths.links().end() ? -1 : static_cast<int>(back - paths.links().begin()));
    }
    for (const int node : graph.all(NodeKind::net)) {
      net_rates_.push_back(graph.nodes[at(node)].rate);
      int first = 0;
      while (net(first).card != graph.nodes[at(node)].card || net(first).port != graph.nodes[at(node)].port)
        ++first;
      ports_.push_back(first);
    }
    used_.resize(graph.all(NodeKind::gpu).size());
    nets_of_.resize(kDistances * (used_.size() + 1));
    find_max_rates();
  }

  Draft compute(Draft best, int cross_nic);

 private:
  static constexpr std::size_t kDistances = static_cast<std::size_t>(Distance::none) + 1;
  static std::size_t at(int index) { return static_cast<std::size_t>(index); }
  [[nodiscard]] int gpus() const { return static_cast<int>(used_.size()); }
  [[nodiscard]] bool has_switches() const { return !graph_.all(NodeKind::nvswitch).empty(); }
  [[nodiscard]] const GraphNode& net(int n) const {
    return graph_.nodes[at(graph_.all(NodeKind::net)[at(n)])];
  }
  [[nodiscard]] bool same_port(int a, int b) const { return ports_[at(a)] == ports_[at(b)]; }

  void find_max_rates();
  /// Stays where it is for the life of the search.
  [[nodiscard]] const std::vector<int>& nets(Distance farthest, int gpu);
  [[nodiscard]] int pci_rate(int gpu) const;

  int follow(const GraphPath& path, NodeKind from_kind, float rate, int hops);
  bool go(NodeKind start_kind, int start, NodeKind end_kind, int end, float times);
  void go_back(NodeKind start_kind, int start, NodeKind end_kind, int end, float times) {
    go(start_kind, start, end_kind, end, -times);
  }
  struct Neighbors {
    std::array<int, 2> gpus{};
    std::size_t count = 0;
  };
  [[nodiscard]] Neighbors neighbors(int gpu) const;
  [[nodiscard]] std::vector<int> next_gpus(int gpu, ByNet by_net) const;
  [[nodiscard]] bool better() const;

  void search(int& steps);
  void from_net(int& steps);
  void channel_at(int net, int& steps);
  void try_gpu(std::optional<int> from_net, std::optional<int> from_gpu, int gpu, int step, int to_net,
               int to_first, Order order, int& steps);
  void at_gpu(int gpu, int step, int to_net, int to_first, Order order, int& steps);
  void back_to_net(int gpu, int step, int to_first, Order order, int& steps);
  void complete_channel(int& steps);
  void to_next_gpu(int gpu, int step, int to_net, int to_first, Order order, int& steps);
  void through_switches(int head, int& steps);
  [[nodiscard]] bool may_leave_by(int net, int step) const;
  [[nodiscard]] int step_to_net() const;
  [[nodiscard]] int step_to_first() const;

  /// What a search may use: the nearest and the farthest, and the speeds of a channel from the fastest.
  struct Allowances {
    Distance min_gpu = Distance::local;
    Distance max_gpu = Distance::sys;
    Distance min_net = Distance::pix;
    Distance max_net = Distance::sys;
    int cross_nic = 0;
    bool nvls = false;
    std::vector<float> speeds;  ///< GB/s
  };
  [[nodiscard]] Allowances allowances(ChannelPattern pattern, int cross_nic) const;
  [[nodiscard]] Draft first_draft(Draft draft) const;
  [[nodiscard]] std::size_t first_speed() const;
  [[nodiscard]] int most_channels(float speed) const;
  bool look();
  bool allow_more();
  bool allow_farther_gpus();
  bool allow_farther_nets();
  bool allow_crossing();
  bool allow_a_slower_speed();
  void look_faster();

  const MachineGraph& graph_;
  const MachinePaths& paths_;
  bool inter_;
  std::vector<float> rates_;         ///< what is left of each link
  std::vector<int> reverse_;         ///< the other direction of each link
  std::vector<float> net_rates_;     ///< what is left of each port
  std::vector<int> ports_;           ///< the first net at each one's port
  std::vector<std::uint64_t> used_;  ///< by GPU: the channels that have it
  std::vector<std::optional<std::vector<int>>> nets_of_;
  float max_rate_ = 0;
  float total_rate_ = 0;
  Draft now_;
  Draft best_;
  int steps_ = 0;                ///< of this look
  std::int64_t steps_left_ = 0;  ///< of all looks
  Allowances allowed_;
  std::size_t speed_ = 0;  ///< which of the speeds
  std::map<std::tuple<bool, Distance, Distance, int, ChannelPattern>, bool> used_up_;
};

}  // namespace collbench::analysis
