#pragma once
#include <vector>

#include "base/record/cluster.hpp"
#include "base/record/identities.hpp"
#include "collectives/nccl/gpu_choice.hpp"
#include "launch/ranks.hpp"
#include "topology/cluster/cluster_topology.hpp"

namespace collbench::program {

/// What every rank works with, on rank 0; empty on the others, and where no machine shows a GPU. Collective.
/// `cluster` counts on rank 0, and its nodes are those of `machines`. `cuda_visible_devices` is the rank's
/// variable of that name, nullptr when it is not set: as long as nobody asks CUDA, it is the only word on
/// which GPUs a rank sees.
[[nodiscard]] std::vector<PlacedRank> gather_placement(launch::Ranks& ranks, const Identities& machines,
                                                       const topology::ClusterTopology& cluster,
                                                       const char* cuda_visible_devices);

/// By rank, where nothing but CUDA knows the GPUs.
[[nodiscard]] std::vector<PlacedRank> placement_by_cuda(const std::vector<collectives::VisibleGpu>& gpus);

}  // namespace collbench::program
