#pragma once
#include <vector>

#include "tools/plan/step/plan.hpp"

namespace collbench::analysis {

/// Samples of a step where none are given, of `sequence` tokens: those of 4 Mi tokens (Llama 2, table 1: a
/// batch of 4M tokens), at least one.
[[nodiscard]] int usual_samples(int sequence);

/// The job with every number filled in, and the defaults that were taken. `gpus` is the number of GPUs,
/// `domain` of those that NVLink connects.
/// Throws Error (usage) where the parallelism does not make that number.
[[nodiscard]] TrainingJob complete_job(const PlanRequest& request, int gpus, int domain,
                                       std::vector<TakenDefault>& defaults);

}  // namespace collbench::analysis
