#pragma once
#include <string_view>
#include <vector>

#include "tools/plan/step/plan.hpp"

namespace collbench::analysis {

enum class SpanKind { forward, backward, weights, data_parallel, optimizer, other };

[[nodiscard]] std::string_view name(SpanKind kind);

/// What a pipeline stage does for a while, in seconds from the step's beginning.
struct TimelineSpan {
  int stage = 0;
  SpanKind kind = SpanKind::forward;
  int micro_batch = 0;  ///< of forward, backward and weights
  int chunk = 0;        ///< of interleaving, likewise
  double begin = 0;
  double end = 0;
};

/// One step, span by span: 1F1B, interleaved with several chunks, in the order of Megatron-LM's schedules.py;
/// without bubbles the gradients of weights stand by themselves, and stage i runs them i micro-batches later
/// than 1F1B (Qi et al. 2023). A pass takes what the plan has for it, exposed collectives included; sends
/// take no time of their own. The data-parallel collectives' exposed part, the optimizer, jitter and host
/// follow the last pass. Where stages are equal the end is the plan's step; else they differ, since the plan
/// takes the busiest stage for all. Sorted by stage, then time. Throws Error (usage) for more than 200,000
/// spans.
[[nodiscard]] std::vector<TimelineSpan> timeline(const TrainingPlan& plan);

}  // namespace collbench::analysis
