#pragma once
#include "analysis/gpu/algorithm_rate.hpp"
#include "base/record/operation.hpp"

namespace collbench {

/// The ring of NCCL for AllReduce, AllGather, ReduceScatter, Broadcast and Reduce. Each of its links carries
/// (bus factor) × S, so that busbw is the rate of the slowest one: a GPU's NVLinks (or its way through the
/// host), and between domains all NICs of one. docs/model.md.
[[nodiscard]] AlgorithmRate gpu_ring(const Operation& operation, const GpuCluster& cluster);

}  // namespace collbench
