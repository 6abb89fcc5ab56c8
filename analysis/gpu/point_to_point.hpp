#pragma once
#include "analysis/gpu/algorithm_rate.hpp"
#include "base/record/operation.hpp"

namespace collbench {

/// AllToAll (also AllToAllv, Gather, Scatter by its links): every rank sends (p−1)/p · S, of which the part
/// for other domains goes through its share of its domain's NICs. Source: nccl-tests issue 274.
[[nodiscard]] AlgorithmRate gpu_all_to_all(const GpuCluster& cluster);

/// SendRecv from rank r to r + 1: between domains one flow each way, over one NIC.
[[nodiscard]] AlgorithmRate gpu_send_recv(const GpuCluster& cluster);

}  // namespace collbench
