#pragma once
#include <string>

#include "topology/graph/topology.hpp"

namespace collbench::topology {

/// A line for each GPU: its NUMA node (or CPUs), the nearest NICs, and the GPUs at the other end of its
/// NVLinks. Empty without GPUs.
[[nodiscard]] std::string show_affinity(const Host& host);

/// The path types of all pairs of GPUs and NICs, with the legend of the words that stand in it.
[[nodiscard]] std::string show_matrix(const Host& host);

}  // namespace collbench::topology
