#pragma once
#include "analysis/gpu/algorithm_rate.hpp"

namespace collbench {

/// NCCL's double binary tree for AllReduce: a chain within each domain, trees across. Out of a GPU in
/// mid-chain 2S; out of a domain S where there are two (each is the root of one tree: busbw up to 1.875 × the
/// NICs on 2 × 8), 2S where there are more. A channel moves at most what NCCL's perChMaxTree says
/// (NCCL 2.30 src/graph/tuning.cc).
[[nodiscard]] AlgorithmRate gpu_tree(const GpuCluster& cluster);

/// The NICs' share in an AllReduce whose trees span the domains: S out of each of two, 2S out of each of
/// more.
[[nodiscard]] double tree_rate_of_nics(const GpuCluster& cluster);

}  // namespace collbench
