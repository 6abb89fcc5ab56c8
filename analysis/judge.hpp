#pragma once
#include "analysis/gpu/cluster.hpp"
#include "base/record/run.hpp"

namespace collbench {

/// `run` with an expectation, a verdict and an explanation in every row, by the cluster's links. Rows of one
/// sweep share their verdict; a row's explanation is about itself, the largest one's about the sweep.
[[nodiscard]] Run judged_on_gpus(Run run, const GpuCluster& cluster);

}  // namespace collbench
