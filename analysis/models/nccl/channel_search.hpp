#pragma once
#include <cstdint>
#include <utility>
#include <vector>

#include "analysis/models/nccl/machine_graph.hpp"

namespace collbench::analysis {

/// What the search looks for: the numbers are NCCL's, as its log prints them.
enum class ChannelPattern : std::uint8_t { balanced_tree = 1, split_tree = 2, tree = 3, ring = 4, nvls = 5 };

/// The channels that NCCL's search finds for one algorithm on one node.
struct ChannelPlan {
  ChannelPattern pattern = ChannelPattern::ring;
  int channels = 0;        ///< of NVLS: heads
  float within_node = 0;   ///< GB/s of a channel between GPUs
  float across_nodes = 0;  ///< GB/s of a channel to the NICs
  Distance farthest_gpu = Distance::local;
  Distance farthest_net = Distance::pix;
  bool same_channels = true;
  int cross_nic = 0;
  std::vector<std::vector<int>> gpus{};     ///< of each channel, in order, as positions among the ranks
  std::vector<std::pair<int, int>> nets{};  ///< of each channel, in and out, as positions in Host::nics

  [[nodiscard]] double rate() const { return channels * static_cast<double>(within_node); }
  bool operator==(const ChannelPlan&) const = default;
};

struct NodePlan {
  ChannelPlan ring;
  ChannelPlan tree;
  ChannelPlan nvls;  ///< without channels before compute capability 9.0 and without NVSwitches

  bool operator==(const NodePlan&) const = default;
};

/// NCCL's search for channels, restated from NCCL 2.30.7, src/graph/search.cc (ncclTopoCompute and all below
/// it) and init.cc (what is searched for with which bounds): depth first over NICs and GPUs, one speed after
/// the other from high to low, and with allowances that grow (other NICs, longer ways), until a plan fits or
/// the steps are used up. It is deterministic. `tests/analysis/models/nccl/nccl_plans.tsv` has what libnccl
/// found.
[[nodiscard]] NodePlan plan_channels(const MachineGraph& graph, bool several_nodes,
                                     const NcclSettings& settings);

/// What all ranks agree on: the least of every node's (init.cc, after the third exchange).
[[nodiscard]] NodePlan agreed(const NodePlan& a, const NodePlan& b);

}  // namespace collbench::analysis
