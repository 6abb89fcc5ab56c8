#pragma once
#include <string>

#include "topology/topology.hpp"

namespace collbench {

/// A line for each GPU: its NUMA node (or CPUs), the nearest NICs, and the GPUs at the other end of its
/// NVLinks. Empty without GPUs.
[[nodiscard]] std::string show_affinity(const Host& host);

}  // namespace collbench
