#pragma once
#include <string>

#include "topology/topology.hpp"

namespace collbench {

struct ShowOptions {
  bool matrix = false;   ///< also the matrix of path types, as nvidia-smi topo -m prints it
  bool sources = false;  ///< also what was asked
};

/// The graph for a terminal: per host a summary, the tree of NUMA nodes, bridges and devices, for each GPU
/// its nearest NICs, and what is hidden or contradictory.
[[nodiscard]] std::string show_topology(const Topology& topology, const ShowOptions& options);

/// The reference machines, one a line.
[[nodiscard]] std::string list_reference_machines();

}  // namespace collbench
