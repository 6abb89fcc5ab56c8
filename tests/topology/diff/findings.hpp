#pragma once
#include <vector>

#include "topology/diff/topology_diff.hpp"

namespace collbench::topology {

/// What is found between two hosts, each device of `a` with its counterpart of `b`.
inline std::vector<Finding> findings(const Host& a, const Host& b, bool a_is_reference = false) {
  return diff_hosts(pair_hosts(a, b, a_is_reference)).findings;
}

}  // namespace collbench::topology
