#pragma once
#include <string>
#include <vector>

#include "launch/agreement.hpp"
#include "topology/cluster/cluster_topology.hpp"

namespace collbench::program {

/// How the nodes of a run differ from each other, and from what they should be.
struct ClusterCheck {
  std::vector<std::string> lines;  ///< for the head of the report
  bool has_fault = false;          ///< a node is degraded or broken against `expect`
};

/// `expect` is what --expect names; empty: the nodes are compared with each other alone, and no fault is one.
/// Throws Error (usage) for a machine that cannot be read.
[[nodiscard]] ClusterCheck check_cluster(launch::OnRoot root, const topology::ClusterTopology& cluster,
                                         const std::string& expect);

}  // namespace collbench::program
