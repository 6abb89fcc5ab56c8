#pragma once
#include <string>

#include "analysis/gpu/cluster.hpp"
#include "base/record/run.hpp"

namespace collbench {

/// Why a row may lie below its band: what the log tells of NVLinks, channels and network, else what is left.
/// `row` has an expectation.
[[nodiscard]] std::string loss_cause(const Row& row, const GpuCluster& cluster);

}  // namespace collbench
