#pragma once
#include <vector>

#include "topology/graph/topology.hpp"

namespace collbench::topology {

/// The CPUs at the device, as nvidia-smi or its NUMA node says; empty where neither does.
[[nodiscard]] std::vector<int> local_cpus(const Host& host, const Device& device);

}  // namespace collbench::topology
