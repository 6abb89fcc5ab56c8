#pragma once
#include "topology/graph/topology.hpp"

namespace collbench::topology {

/// This machine as libhwloc sees it: NUMA nodes, CPUs, the PCI tree, GPUs and NICs. Throws Error (not_here)
/// when libhwloc cannot look.
[[nodiscard]] Host read_hwloc_live();

}  // namespace collbench::topology
