#pragma once
#include <string>

#include "topology/graph/topology.hpp"

namespace collbench::topology {

/// What the host is in one line: "8 × NVIDIA H100 80GB HBM3, 18 NVLinks each through 4 NVSwitches, 8 NICs".
[[nodiscard]] std::string summarize_host(const Host& host);

/// What NCCL's search made of the machine: for each algorithm the channels, what each carries, and the ways
/// that they take. Empty where no graph was read.
[[nodiscard]] std::string show_graphs(const Host& host);

struct ShowOptions {
  bool matrix = false;   ///< also the matrix of path types, as nvidia-smi topo -m prints it
  bool sources = false;  ///< also what was asked
};

/// The graph for a terminal: per host a summary, the tree of NUMA nodes, bridges and devices, for each GPU
/// its nearest NICs, and what is hidden or contradictory.
[[nodiscard]] std::string show_topology(const Topology& topology, const ShowOptions& options);

/// The reference machines, one a line.
[[nodiscard]] std::string list_reference_machines();

}  // namespace collbench::topology
