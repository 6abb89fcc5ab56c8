#pragma once
#include <vector>

#include "tools/plan/job/job.hpp"
#include "tools/plan/step/group_time.hpp"
#include "tools/plan/step/step.hpp"

namespace collbench::analysis {

/// Collectives that a GPU meets one after the other, and their sums.
struct CallTime {
  double seconds = 0;
  double bytes = 0;  ///< that the GPU sends
  double calls = 0;
  std::vector<StepCollective> each{};
};

[[nodiscard]] CallTime operator*(double factor, CallTime call);
[[nodiscard]] CallTime operator+(CallTime a, const CallTime& b);

/// The groups of ranks of a step, where they lie on the machine.
struct StepGroups {
  RankGroup tp, cp, ep, pp, dp, shard, replicas, experts;
};

/// `measured`: none, or a record that corrects collectives.
[[nodiscard]] StepGroups step_groups(const TrainingJob& job, const GpuCluster& machine,
                                     const MeasuredCollectives* measured);

/// A parameter or an activation on the wire, bytes.
inline constexpr double kWireBytes = 2;

/// One call of the operation by the group; nothing for a group of one.
[[nodiscard]] CallTime call(const RankGroup& group, OperationId id, double bytes);

/// A layer's tensor-parallel collectives of one micro-batch: twice forward and twice backward, and the
/// forward ones again where all is recomputed (Narayanan et al. 2021, section 3.2; Korthikanti et al. 2022,
/// section 4.2). With experts, those of attention only: experts are spread whole.
[[nodiscard]] CallTime tensor_calls(const TrainingJob& job, const StepGroups& groups);

/// A layer's keys and values round the context-parallel ring, forward and, with their gradients, backward.
[[nodiscard]] CallTime context_calls(const TrainingJob& job, const StepGroups& groups);

/// Tokens to their experts and back, forward and backward.
[[nodiscard]] CallTime expert_calls(const TrainingJob& job, const StepGroups& groups);

/// Activations to the next stage and gradients back, for each chunk.
[[nodiscard]] CallTime stage_calls(const TrainingJob& job, const StepGroups& groups);

/// The data-parallel collectives of a step, without sharded parameters.
struct DataParallel {
  CallTime gradients;
  CallTime parameters;
};
[[nodiscard]] DataParallel data_parallel(const TrainingJob& job, const StepGroups& groups);

}  // namespace collbench::analysis
