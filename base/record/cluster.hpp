#pragma once
#include <map>
#include <string>
#include <vector>

namespace collbench {

/// Attributes by device: {"GPU 0000:18:00.0": {"uuid": "GPU-…"}}.
using FactsByDevice = std::map<std::string, std::map<std::string, std::string>>;

/// One node of a run.
struct ClusterNode {
  std::string host;
  int shape = 0;           ///< index into the different machines of the run
  FactsByDevice identity;  ///< what tells it from others of that shape: names, UUIDs, GUIDs, serial numbers

  bool operator==(const ClusterNode&) const = default;
};

/// The nodes of a run, each different machine described once.
struct Cluster {
  std::string shapes;  ///< JSON as `topo save` writes it, with a host for each different machine
  std::vector<ClusterNode> nodes;
  std::vector<std::string> summary;  ///< what the cluster is and which node is odd, for a person

  bool operator==(const Cluster&) const = default;
};

}  // namespace collbench
