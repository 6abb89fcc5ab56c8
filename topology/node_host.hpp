#pragma once
#include "topology/cluster.hpp"
#include "topology/topology.hpp"

namespace collbench {

/// The machine of one node: its shape with its own names, UUIDs and GUIDs. What is none of text (NCCL's rank)
/// is left out. Throws std::out_of_range for a node or shape that is not there.
[[nodiscard]] Host node_host(const ClusterTopology& cluster, int node);

}  // namespace collbench
