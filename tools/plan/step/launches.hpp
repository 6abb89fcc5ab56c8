#pragma once
#include "tools/plan/job/job.hpp"

namespace collbench::analysis {

/// Kernels of one layer with experts that the host launches one by one, forward and backward, with what is
/// recomputed. Those of dense layers are few and long: the host is ahead of them. In FP8 each expert on the
/// GPU has 30 with Transformer Engine, so that with 16 of them a small micro-batch ends before its kernels
/// are launched.
[[nodiscard]] double launches_of_expert_layer(const TrainingJob& job);

}  // namespace collbench::analysis
