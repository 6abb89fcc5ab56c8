#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "base/record/cluster.hpp"
#include "topology/topology.hpp"

namespace collbench {

/// The machines of a run as graphs: each different one once.
struct ClusterTopology {
  std::vector<Host> shapes;  ///< the first node of each shape, with its own names
  std::vector<ClusterNode> nodes;
};

/// As the run's record keeps it, with the summary (topology/cluster_summary.hpp).
[[nodiscard]] Cluster cluster_record(const ClusterTopology& cluster);

/// The inverse. `file` stands in errors. Throws Error (usage) as load_topology, and for a node of a shape
/// that is not there.
[[nodiscard]] ClusterTopology read_cluster_record(const Cluster& record, std::string_view file);

}  // namespace collbench
