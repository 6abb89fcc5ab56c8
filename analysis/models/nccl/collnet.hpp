#pragma once
#include <string_view>

#include "analysis/models/nccl/algorithms.hpp"

namespace collbench::analysis {

/// "collnet_direct" or "collnet_chain": NCCL over switches that reduce (SHARP).
[[nodiscard]] bool is_collnet(std::string_view algorithm);

/// AllReduce over SHARP: every byte of S goes up and comes down once through the NICs of a node, and is
/// gathered and spread over NVLink: 2(p−1)/p of S out of each GPU (direct), or 2S (chain). AllGather and
/// ReduceScatter by collnet_direct: NCCL's own 0.9 of the NICs (2.30 src/graph/tuning.cc). Needs two domains.
[[nodiscard]] AlgorithmRate gpu_collnet(const Operation& operation, const GpuCluster& cluster,
                                        std::string_view algorithm);

}  // namespace collbench::analysis
