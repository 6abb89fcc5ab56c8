#pragma once
#include <string>

#include "analysis/models/nccl/gpu_cluster.hpp"
#include "base/record/run.hpp"

namespace collbench::analysis {

/// `run` with an expectation, a verdict and an explanation in every row, by the cluster's links. Rows of one
/// sweep share their verdict; a row's explanation is about itself, the largest one's about the sweep. A log
/// that names another GPU than the cluster's gets a note.
[[nodiscard]] Run judged_on_gpus(Run run, const GpuCluster& cluster);

/// Adds a sentence to the explanation of every sweep that is LOW or a FAULT; an empty one adds nothing.
void explain_low(Run& run, const std::string& sentence);

/// Whether any row is part of a sweep that is LOW or a FAULT.
[[nodiscard]] bool is_low(const Run& run);

}  // namespace collbench::analysis
