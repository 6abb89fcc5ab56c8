#pragma once
#include <string>
#include <vector>

#include "topology/diff/finding.hpp"

namespace collbench::topology {

/// What two hosts have otherwise. It keeps the match: what a finding costs depends on it.
struct TopologyDiff {
  std::vector<Finding> findings;      ///< the worst first
  std::vector<std::string> versions;  ///< of the tools that answered, where they differ: no finding
};

/// Compares two hosts slot by slot. What only one of them knows is not compared: a source that was not asked
/// is no difference.
[[nodiscard]] HostPair pair_hosts(const Host& a, const Host& b, bool a_is_reference);
[[nodiscard]] TopologyDiff diff_hosts(const HostPair& pair);

/// The worst severity of a list is at least degraded.
[[nodiscard]] bool has_fault(const std::vector<Finding>& findings);

}  // namespace collbench::topology
