#pragma once
#include <string>

#include "analysis/models/nccl/gpu_cluster.hpp"

namespace collbench::analysis {

/// A cluster by what a user types: a reference machine's name, or a file that describes a node (anything that
/// read_any_topology takes; several hosts: the first). Throws Error (usage) as those do, and for a word that
/// is neither.
[[nodiscard]] GpuCluster named_gpu_cluster(const std::string& topology, int nodes, int ranks_per_node);

}  // namespace collbench::analysis
