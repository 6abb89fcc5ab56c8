#pragma once
#include "tools/plan/job/job.hpp"

namespace collbench::analysis {

/// Bytes on the fullest GPU, by item.
struct MemoryUse {
  double parameters = 0;
  double gradients = 0;
  double optimizer = 0;
  double activations = 0;  ///< of the micro-batches in flight on the stage that keeps most
  double logits = 0;
  double gathered = 0;   ///< two layers' parameters and one's gradients, where they are sharded
  double allocator = 0;  ///< held and not in use, in stacks of 2021
  double framework = 0;  ///< CUDA context, NCCL's buffers, workspaces

  [[nodiscard]] double sum() const {
    return parameters + gradients + optimizer + activations + logits + gathered + allocator + framework;
  }
  bool operator==(const MemoryUse&) const = default;
};

/// Parameters of the largest stage on one GPU, before data-parallel sharding. `experts` of them are spread
/// over expert-parallel ranks, and over fewer data-parallel ones.
struct StageParameters {
  double dense = 0;
  double experts = 0;
};
[[nodiscard]] StageParameters stage_parameters(const TrainingJob& job);

/// An estimate. What an allocator holds beyond need is in it for the stacks of 2021 alone, by BLOOM's sweep
/// (docs/notes/plan-accuracy.md); today's software states no memory in use. Sources: ZeRO,
/// section 3; Megatron-LM theoretical_memory_usage.py; Korthikanti et al. 2022, equations 1 to 6, for any FFN
/// and with grouped queries.
[[nodiscard]] MemoryUse memory_use(const TrainingJob& job);

}  // namespace collbench::analysis
