#pragma once
#include <string>
#include <vector>

#include "analysis/models/nccl/gpu_cluster.hpp"
#include "base/record/run.hpp"

namespace collbench::analysis {

/// What may be lost while `row` still lies within its band, by the model itself; only a baseline of the same
/// machine shows it. For each kind of link the largest of these: half of all (one at half its rate that the
/// others wait for), one, half of one. "of half of the 8 NICs", "of one NVLink of 18 (6 %)", "between ring
/// and tree (1.5 ×; ...)". `row` has an expectation by `cluster`.
[[nodiscard]] std::vector<std::string> undetectable_losses(const Row& row, const GpuCluster& cluster);

}  // namespace collbench::analysis
