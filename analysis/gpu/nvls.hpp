#pragma once
#include <optional>

#include "analysis/gpu/algorithm_rate.hpp"

namespace collbench {

/// NVLS (one domain) or NVLS-tree (several) for AllReduce: the NVSwitches reduce, and a GPU sends S(p+1)/p.
/// None below compute capability 9.0, without NVSwitches, or with fewer than three GPUs a domain. Sources:
/// NVIDIA/nccl-tests PR 239 (bytes on the wire), NCCL 2.30 src/graph/tuning.cc (nvlsEfficiency).
[[nodiscard]] std::optional<AlgorithmRate> gpu_nvls(const GpuCluster& cluster);

}  // namespace collbench
