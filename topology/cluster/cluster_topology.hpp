#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "base/record/cluster.hpp"
#include "topology/graph/topology.hpp"

namespace collbench::topology {

/// The machines of a run as graphs: each different one once.
struct ClusterTopology {
  std::vector<Host> distinct_hosts;  ///< the first node of each kind, with its own names
  std::vector<ClusterNode> nodes;
};

/// As the run's record keeps it, with the summary (topology/cluster/cluster_topology.hpp).
[[nodiscard]] Cluster cluster_record(const ClusterTopology& cluster);

/// The inverse. `file` stands in errors. Throws Error (usage) as load_topology, and for a node of a host
/// that is not there.
[[nodiscard]] ClusterTopology read_cluster_record(const Cluster& record, std::string_view file);

/// Three lines for the head of a report: how many nodes there are and what most of them are, which reference
/// machine is nearest, and which nodes are odd (not said of a single node;
/// analysis/report/cluster_findings.hpp says in what). As short for a thousand nodes as for two.
[[nodiscard]] std::vector<std::string> cluster_summary(const ClusterTopology& cluster);

/// The machine of one node: the first of its kind with its own names, UUIDs and GUIDs. What is none of text
/// (NCCL's rank) is left out. Throws std::out_of_range for a node or host that is not there.
[[nodiscard]] Host node_host(const ClusterTopology& cluster, int node);

}  // namespace collbench::topology
