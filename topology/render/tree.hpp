#pragma once
#include <string>

#include "topology/graph/topology.hpp"

namespace collbench::topology {

/// NUMA nodes, and below each its PCIe bridges and devices, with the links that carry less than they could.
/// A bridge with one thing below it is left out.
[[nodiscard]] std::string show_tree(const Host& host);

}  // namespace collbench::topology
