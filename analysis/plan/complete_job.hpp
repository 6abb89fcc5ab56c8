#pragma once
#include <vector>

#include "analysis/plan/plan.hpp"

namespace collbench::analysis {

/// The job with every number filled in, and the defaults that were taken. `gpus` is the number of GPUs.
/// Throws Error (usage) where the parallelism does not make that number.
[[nodiscard]] TrainingJob complete_job(const PlanRequest& request, int gpus,
                                       std::vector<TakenDefault>& defaults);

}  // namespace collbench::analysis
