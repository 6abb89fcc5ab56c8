#pragma once
#include <optional>
#include <string>
#include <vector>

#include "analysis/models/nccl/gpu_cluster.hpp"
#include "base/record/identities.hpp"
#include "topology/cluster/cluster_topology.hpp"

namespace collbench::program {

/// What a run on the GPUs of `machines` is judged by. None when no machine shows a GPU or the nodes have
/// different numbers of ranks: `notes` then gets a line that says so.
[[nodiscard]] std::optional<analysis::GpuCluster> gpu_cluster_here(const topology::ClusterTopology& machines,
                                                                   const Identities& identities,
                                                                   std::vector<std::string>& notes);

}  // namespace collbench::program
