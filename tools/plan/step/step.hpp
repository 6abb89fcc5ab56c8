#pragma once
#include <string>
#include <vector>

#include "analysis/models/nccl/gpu_cluster.hpp"
#include "tools/plan/job/job.hpp"
#include "tools/plan/step/group_time.hpp"
#include "tools/plan/step/layer_time.hpp"
#include "tools/plan/step/measured_collectives.hpp"

namespace collbench::analysis {

/// What can be changed in a step by itself: its kernels, and the collectives of one kind of parallelism.
enum class StepPart {
  products,
  attention,
  elementwise,
  launches,
  tp,
  cp,
  ep,
  pp,
  dp,
  bubble,
  optimizer,
  other
};

[[nodiscard]] std::string_view name(StepPart part);
[[nodiscard]] bool is_collective(StepPart part);

/// A collective of a step as one GPU meets it.
struct StepCollective {
  OperationId operation = OperationId::all_reduce;
  int ranks = 0;
  bool across_nodes = false;
  double bytes = 0;  ///< of the size column
  double calls = 0;  ///< in a step, or in what a step has of it
};

/// A part of the step, on the GPU that has most to do.
struct StepTerm {
  StepPart part = StepPart::other;
  double exposed_seconds = 0;  ///< the step is as much longer: these sum to it
  double hidden_seconds = 0;   ///< under computation
  double bytes = 0;            ///< that a GPU sends in a step; 0 where it is no collective
  double calls = 0;
  std::vector<StepCollective> collectives{};  ///< that `bytes` and `calls` count; empty: no collective
  std::string operation{};  ///< "2 AllGather + 2 ReduceScatter of 67 MB"; empty: no collective
  std::string crosses{};    ///< the links that bound it; empty: no collective
};

/// Scales of the parts' costs, 1 each, for "at half cost": an index is a StepPart.
struct PartScales {
  std::vector<double> factor = std::vector<double>(static_cast<std::size_t>(StepPart::other) + 1, 1.0);

  [[nodiscard]] double of(StepPart part) const { return factor[static_cast<std::size_t>(part)]; }
};

/// One micro-batch on one stage, in seconds, with what its collectives expose.
struct StagePasses {
  double forward = 0;
  double backward = 0;
  double weights = 0;  ///< of the backward pass, what a schedule without bubbles can run later
};

struct Step {
  std::vector<StepTerm> terms;        ///< in the order of StepPart, those of the job only
  std::vector<StagePasses> stages{};  ///< first to last

  [[nodiscard]] double seconds() const;
  /// Exposed ones; 0 where the job has no such part.
  [[nodiscard]] double seconds_of(StepPart part) const;
};

/// `machine` is one node (its nodes are not read); `measured`: none, or a record that corrects collectives.
/// Sources of the parts: docs/notes/plan-parts.md.
[[nodiscard]] Step step_time(const TrainingJob& job, const GpuCluster& machine, const ComputeRates& rates,
                             const PartScales& scales = {}, const MeasuredCollectives* measured = nullptr);

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
/// section 4.2). With experts, those of attention only: experts are spread whole. Of a
/// parallel block half of them.
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
