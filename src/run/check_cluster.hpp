#pragma once
#include <string>
#include <vector>

#include "topology/cluster/cluster_topology.hpp"

namespace collbench::program {

/// What the nodes of a run have otherwise, than each other or than they should.
struct ClusterCheck {
  std::vector<std::string> lines;  ///< for the head of the report
  bool has_fault = false;          ///< a node is degraded or broken against `expect`
};

/// `expect` is what --expect names; empty: the nodes are compared with each other alone, and no fault is one.
/// Throws Error (usage) for a place that cannot be read.
[[nodiscard]] ClusterCheck check_cluster(const topology::ClusterTopology& cluster, const std::string& expect);

}  // namespace collbench::program
