#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "tools/plan/step/plan.hpp"

namespace collbench::analysis {

/// The fastest ways to split a step.
struct SplitSearch {
  std::vector<TrainingPlan> best;  ///< the fastest first, one for each tp × pp × cp × ep and sharding
  std::size_t tried = 0;           ///< splits that frameworks run, whether they fit or not
  std::size_t fitting = 0;         ///< of them, those within the GPU's memory by our estimate
};

/// Samples of a step where none are given, the same for all splits: usual_samples().
[[nodiscard]] int usual_global_batch(const PlanRequest& request);

/// Of what the request does not give: tp (inside an NVLink domain, dividing heads and KV heads), pp, vpp, cp,
/// ep, the micro-batch, recomputation, and ZeRO-1 or, without a pipeline, FSDP (which never has one unless
/// given). All of them are compared; what prunes is what frameworks refuse, and memory: kNearlyFull of the
/// GPU's, all of it where nothing fits into that. Of a split only the least recomputation that fits is timed,
/// since more only takes longer. The `count` fastest are planned
/// whole. Needs a global batch (seconds of different batches do not compare). Throws Error (usage) as
/// training_plan() for what cannot run at all.
[[nodiscard]] SplitSearch fastest_splits(const PlanRequest& request, const GpuCluster& node,
                                         std::size_t count);

/// "--tp 8 --pp 4 --mbs 1 --zero 1 --recompute none": options that give the job's split.
[[nodiscard]] std::string split_options(const TrainingJob& job);

/// What to do where the job does not fit: the fastest split that does, of those that leave what is given as
/// it is, or else of all; else that there is none.
[[nodiscard]] std::string way_to_fit(const PlanRequest& request, const TrainingJob& refused,
                                     const GpuCluster& node);

}  // namespace collbench::analysis
