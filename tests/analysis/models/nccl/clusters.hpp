#pragma once
#include <string_view>

#include "analysis/models/nccl/gpu_cluster.hpp"

namespace collbench::analysis {

/// `nodes` nodes of a reference machine, all GPUs of each unless told otherwise.
inline GpuCluster cluster_of(std::string_view machine, int nodes, int ranks_per_node = 0) {
  return gpu_cluster(*topology::find_reference_machine(machine), nodes, ranks_per_node);
}

}  // namespace collbench::analysis
