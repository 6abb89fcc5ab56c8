#pragma once
#include <string>

#include "src/commands/topology.hpp"
#include "topology/graph/topology.hpp"

namespace collbench::program {

/// `collbench topo draw`: writes the picture and says so. Throws Error: usage for several hosts or a file
/// that cannot be written, not_here without Graphviz.
[[nodiscard]] std::string draw_topology(const TopologyOptions& options, const topology::Topology& topology);

}  // namespace collbench::program
