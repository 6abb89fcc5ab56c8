#pragma once
#include <functional>
#include <string>
#include <vector>

#include "base/record/cluster.hpp"
#include "base/record/identities.hpp"
#include "collectives/nccl/gpu_choice.hpp"
#include "launch/agreement.hpp"
#include "launch/ranks.hpp"
#include "topology/cluster/cluster_topology.hpp"

// The machines of a run: what they are, which devices the ranks use, and how the nodes differ.

namespace collbench::program {

/// All machines of the run, on rank 0 (the others get an empty cluster). Collective. The first rank of each
/// node calls `gather_host` once, all at the same time, and sends one message: its graph when no lower rank
/// has a machine of that shape, else its identities only. So what travels grows with the number of different
/// nodes. `machines` are the nodes that there really are, whatever --node-map says. An Error of `gather_host`
/// is thrown on all ranks.
[[nodiscard]] topology::ClusterTopology gather_cluster(launch::Ranks& ranks, const Identities& machines,
                                                       const std::function<topology::Host()>& gather_host);

/// The GPU and NICs that each rank works with, on rank 0; empty on the others, and where no machine shows a
/// GPU. Collective. `cluster` counts on rank 0, and its nodes are those of `machines`. `cuda_visible_devices`
/// is the rank's variable of that name, nullptr when it is not set: before CUDA is loaded, nothing else tells
/// which GPUs a rank sees.
[[nodiscard]] std::vector<PlacedRank> gather_placement(launch::Ranks& ranks, const Identities& machines,
                                                       const topology::ClusterTopology& cluster,
                                                       const char* cuda_visible_devices);

/// The same by rank, where only CUDA knows the GPUs.
[[nodiscard]] std::vector<PlacedRank> placement_by_cuda(const std::vector<collectives::VisibleGpu>& gpus);

/// Which ranks may run only on cores that are far from their GPUs, in a sentence; empty where none. `cores`
/// are those that each rank may run on, by rank.
[[nodiscard]] std::string far_ranks_note(const topology::ClusterTopology& cluster, const Identities& machines,
                                         const std::vector<PlacedRank>& placement,
                                         const std::vector<std::vector<int>>& cores);

/// What this rank works with, for a person: "GPU3, mlx5_3"; empty where that is not known. `placement` counts
/// on rank 0. Collective.
[[nodiscard]] std::string own_device(launch::Ranks& ranks, const std::vector<PlacedRank>& placement);

/// How the nodes of a run differ, from each other or from what they should be.
struct ClusterCheck {
  std::vector<std::string> lines;  ///< for the head of the report
  bool has_fault = false;          ///< a node is degraded or broken against `expect`
};

/// `expect` is what --expect names; empty: the nodes are compared with each other alone, and no difference is
/// a fault. Throws Error (usage) for a machine that cannot be read.
[[nodiscard]] ClusterCheck check_cluster(launch::OnRoot root, const topology::ClusterTopology& cluster,
                                         const std::string& expect);

}  // namespace collbench::program
