#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/record/json_fields.hpp"
#include "base/record/nccl_algorithm.hpp"
#include "base/record/nccl_selection.hpp"
#include "base/record/operation.hpp"

namespace collbench {

/// One channel of a graph that NCCL's search found on one node.
struct NcclGraphChannel {
  std::optional<int> nic_in;   ///< as NCCL numbers the NICs of the node; none on one node
  std::optional<int> nic_out;  ///< the same as nic_in unless the graph crosses NICs
  std::vector<int> ranks;      ///< in the order of the ring or chain; of NVLS only the head

  bool operator==(const NcclGraphChannel&) const = default;
};

/// Those that NCCL searches graphs for.
inline constexpr std::array kSearchedAlgorithms{NcclAlgorithm::ring, NcclAlgorithm::tree, NcclAlgorithm::nvls,
                                                NcclAlgorithm::collnet_chain, NcclAlgorithm::collnet_direct};

/// What NCCL's search found on one node for one algorithm, before the nodes agree.
struct NcclSearchGraph {
  NcclAlgorithm algorithm = NcclAlgorithm::ring;
  int pattern = 0;    ///< NCCL_TOPO_PATTERN_* of NCCL's graph.h: 1 to 3 trees, 4 ring, 5 NVLS
  int cross_nic = 0;  ///< 0: a ring leaves a node by the NIC by which it came in
  int channels = 0;
  double intra_bytes_per_second = 0;  ///< of each channel, inside the node
  double inter_bytes_per_second = 0;  ///< of each channel, between nodes
  std::string intra_type;             ///< the longest path between GPUs: "NVL", "PIX", "SYS"
  std::string inter_type;             ///< the longest path between a GPU and its NIC
  std::vector<NcclGraphChannel> channel;

  bool operator==(const NcclSearchGraph&) const = default;
};

/// A connection between nodes, as NCCL made it.
struct NcclConnection {
  int channel = 0;
  int from = 0;
  int to = 0;
  std::optional<int> send_nic;     ///< of the sender's node; none: its rank's log does not say
  std::optional<int> receive_nic;  ///< of the receiver's node
  bool gpu_direct = false;         ///< both ends, as far as they say
  std::optional<int> proxy_rank;   ///< the rank of the sender's node that sends for it (PXN)

  bool operator==(const NcclConnection&) const = default;
};

/// A line of NCCL's tuning table: what a call takes is latency + bytes / bandwidth, before the corrections
/// that NCCL makes for some sizes.
struct NcclTuning {
  std::string function;   ///< as NCCL calls it: "AllReduce"
  std::string algorithm;  ///< as --algo has it
  std::string protocol;   ///< as --proto has it
  double latency_seconds = 0;
  double bytes_per_second = 0;  ///< algorithm bandwidth; 0: NCCL does not use it here

  bool operator==(const NcclTuning&) const = default;
};

struct NcclPlannedRow {
  OperationId operation = OperationId::all_reduce;
  std::uint64_t size_bytes = 0;  ///< as in the size column of a run
  NcclSelection selection;
  std::optional<double> expected_seconds;  ///< NCCL's own; none: it does not say

  bool operator==(const NcclPlannedRow&) const = default;
};

/// What a libnccl would do on a machine, in its own words: its graph search, its channels, its tuning table
/// and its choices.
struct NcclPlan {
  std::string machine;  ///< as it was named
  int nodes = 1;
  int nodes_per_domain = 1;  ///< that NCCL counts as one, since NVLink joins them (MNNVL)
  int ranks = 0;
  std::string library;                                        ///< the file
  std::string version;                                        ///< as NCCL says it: "2.28.9+cuda13.0"
  std::vector<std::pair<std::string, std::string>> settings;  ///< NCCL_* that were set for it
  std::string network;                                        ///< what NCCL says it uses between nodes
  std::vector<std::string> nics;                              ///< of a node, by NCCL's numbers

  std::vector<std::vector<NcclSearchGraph>> graphs;  ///< by node
  int collective_channels = 0;                       ///< of rings and trees
  int nvls_channels = 0;
  int p2p_channels = 0;
  int p2p_channels_per_peer = 0;
  std::vector<std::vector<int>> rings;         ///< by channel: the ranks, from rank 0 on
  std::vector<std::vector<int>> tree_parents;  ///< by channel, by rank: its parent; -1: the root
  std::vector<std::vector<int>> nvls_heads;    ///< by head: its rank on each node
  std::vector<NcclConnection> connections;
  std::vector<NcclTuning> tuning;
  std::vector<NcclPlannedRow> rows;
  std::vector<std::string> warnings;  ///< of NCCL, each once

  [[nodiscard]] int domains() const { return (nodes + nodes_per_domain - 1) / nodes_per_domain; }
  /// Whether NVLink joins two ranks.
  [[nodiscard]] bool in_one_domain(int rank, int other) const {
    const int ranks_of_domain = std::max(1, ranks / std::max(1, nodes) * nodes_per_domain);
    return rank / ranks_of_domain == other / ranks_of_domain;
  }

  bool operator==(const NcclPlan&) const = default;
};

/// What all nodes can do, which is what runs: the fewest channels at the lowest rates over the longest paths
/// of any node (initTransportsRank, NVIDIA/nccl v2.30.7-1, src/init.cc, lines 1437 to 1447). Rings and trees
/// run over the fewer channels of both (line 1459). None where a node has no such graph. The channels
/// themselves are those of node 0.
[[nodiscard]] std::optional<NcclSearchGraph> agreed_graph(const NcclPlan& plan, NcclAlgorithm algorithm);

/// SI base units, as docs/formats.md lists them. What is not known is null.
[[nodiscard]] Json nccl_plan_to_json(const NcclPlan& plan);

}  // namespace collbench
