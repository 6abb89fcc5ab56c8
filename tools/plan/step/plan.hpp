#pragma once
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/models/nccl/gpu_cluster.hpp"
#include "tools/plan/job/job.hpp"
#include "tools/plan/step/fault_cost.hpp"
#include "tools/plan/step/layer_time.hpp"
#include "tools/plan/step/measured_collectives.hpp"
#include "tools/plan/step/memory.hpp"
#include "tools/plan/step/placement.hpp"
#include "tools/plan/step/step.hpp"

namespace collbench::analysis {

/// How far the plans of published steps of one kind are from what was measured; parts of the measured time,
/// absolute. In-sample: the constants were corrected with these steps in view.
struct PublishedError {
  std::string_view kind;
  int most_gpus;  ///< that a step of them ran on; beyond that nothing is known
  int steps;
  double median;
  double p90;  ///< the ⌈0.9 (n + 1)⌉-th of n: with each source left out the next one's are within it in 88 %
};

/// Of the steps like this one, on any number of GPUs; none where no such step was compared. `gpu` is a
/// TrainingGpu's name. Those with experts were planned with the stack of each told: none where it is not
/// (`stack_given`). The figures are those of docs/notes/plan-accuracy.md, "By kind"; research/plan-accuracy
/// says where they differ.
[[nodiscard]] const PublishedError* published_error(const TrainingJob& job, std::string_view gpu,
                                                    bool stack_given);

/// What a user asks for; what is not given takes the usual default, which the plan then says.
struct PlanRequest {
  ModelShape model{};
  int usual_sequence = 0;  ///< of the catalog's model; 0: none
  std::string topology;
  std::optional<int> n_gpus, sequence, global_batch, micro_batch, tp, pp, vpp, cp, ep, dp;
  std::optional<Sharding> sharding;
  int shard_group = 0;
  std::optional<Precision> precision;
  std::optional<Recompute> recompute;
  std::optional<AttentionKernel> attention;                       ///< none: the stack's
  std::optional<bool> sequence_parallel, tp_overlap, ep_overlap;  ///< none: as the stack does
  const SoftwareStack* stack = nullptr;
  Schedule schedule = Schedule::one_forward_one_backward;
  std::optional<bool> interleaved;  ///< whether stages have to have chunks; none: as vpp says
  RankOrder order = kUsualOrder;
  Fabric fabric;                           ///< between the nodes; Fabric{}: nothing is told
  std::string gpu;                         ///< in place of the topology's; empty: that one
  std::optional<double> nic_gbps_per_gpu;  ///< in place of the topology's
  std::optional<double> power_limit_watts;
  std::optional<double> hbm_gbps;  ///< GB/s of a copy, in place of the GPU's
  Assumptions assumed{};
  std::shared_ptr<const MeasuredCollectives> measured{};  ///< --measured; none: the model alone
  bool may_exceed_memory = false;
  bool names_a_fit = false;  ///< a refusal for memory names a split that fits, which takes a search

  // The whole run.
  std::optional<double> tokens;
  std::optional<double> price_per_gpu_hour;
  bool prices_a_day = false;  ///< the price is for a day, which needs no number of tokens
  double pue = 1.2;           ///< power of the site, of that of the IT
  std::optional<double> price_per_kwh;
  double interruption_gpu_hours = 50'700;  ///< between interruptions: Llama 3, 419 in 54 days on 16,384 GPUs
  std::optional<double> checkpoint_seconds;  ///< that a checkpoint stops the step
  std::optional<double> storage_gbps;        ///< GB/s at which all GPUs together write one
  bool async_checkpoint = false;             ///< behind a copy to host memory, beside the steps
  double restart_seconds = 600;
};

/// A default that the plan took: "vpp 1 (no interleaving)".
struct TakenDefault {
  std::string option;
  std::string value;
  std::string reason;
};

/// The whole run, without and with interruptions.
struct RunCost {
  double tokens = 0;
  double days = 0;
  double gpu_hours = 0;
  std::optional<double> dollars;
  double megawatt_hours = 0;  ///< TrainingPlan::megawatts over its hours
  std::optional<double> energy_dollars;
};

/// A checkpoint: parameters in BF16, and in FP32 with Adam's two moments.
struct Checkpoint {
  double bytes = 0;
  double stop_seconds = 30;  ///< of the step
  double write_seconds = 0;  ///< beside the steps
};

/// The interval of checkpoints, and what is left of the time: Daly 2006, equations 20 and 37. What runs
/// beside a checkpoint that is not written yet is lost with it.
struct Goodput {
  double fleet_mtbf_seconds = 0;
  double interval_seconds = 0;
  double useful_part = 0;  ///< T / (M·e^((R + W)/M)·(e^((T + C)/M) − 1))

  /// Below one part in a hundred a run ends by chance alone.
  [[nodiscard]] bool advances() const { return useful_part >= 0.01; }
};

[[nodiscard]] Goodput goodput(double gpus, double interruption_gpu_hours, const Checkpoint& checkpoint,
                              double restart_seconds);

/// A part at half its cost.
struct Sensitivity {
  StepPart part = StepPart::other;
  double step_seconds = 0;
};

struct PlacedGroup {
  GroupKind kind = GroupKind::tensor;
  int ranks = 1;
  std::vector<int> first_ranks{};  ///< of the group that rank 0 is in, as many as kShownRanks
  int ranks_in_domain = 1;         ///< of a group, in a node or in what NVLink connects
  int domains = 1;
  LeafCrossings crossings{};  ///< where a fabric is told and the group crosses domains
  double fabric_share = 1;    ///< of the NICs' rate
};
inline constexpr std::size_t kShownRanks = 4;

struct TrainingPlan {
  std::string topology;
  std::string gpu;
  int gpus_per_node = 0;
  int nodes = 0;
  TrainingJob job;
  int domain = 0;                        ///< GPUs that NVLink connects
  Fabric fabric;                         ///< as PlanRequest's
  std::vector<PlacedGroup> placement{};  ///< groups of more than one rank
  std::vector<TakenDefault> defaults;
  Step step;
  double step_seconds = 0;
  double tokens_per_second_per_gpu = 0;
  double peak_flops = 0;  ///< of a GPU, that utilizations are of
  double mfu = 0;         ///< FlopConvention::full_attention
  double mfu_causal = 0;
  double hfu = 0;  ///< with what is recomputed: all, or attention alone
  MemoryUse memory;
  double memory_capacity_bytes = 0;
  std::shared_ptr<const MeasuredCollectives> measured;  ///< as PlanRequest's
  std::optional<FaultCost::Price>
      measured_cost;                          ///< of the record, against the model alone; none: not slower
  std::optional<FaultCost> fault;             ///< of --faulty or --fault
  const PublishedError* published = nullptr;  ///< of steps of this kind; none: no such step was compared
  std::vector<Sensitivity> sensitivity;       ///< the one that helps most first
  std::string bound;                          ///< a sentence
  double megawatts = 0;                       ///< of the servers at their limit × PUE
  std::optional<RunCost> cost;
  Checkpoint checkpoint;
  Goodput goodput;

  /// The estimate, of the capacity.
  [[nodiscard]] double memory_part() const { return memory.sum() / memory_capacity_bytes; }
  [[nodiscard]] bool may_not_fit() const { return memory_part() > 1; }
};

/// A plan whose estimate of memory is above this part of the capacity is refused; between 1 and this it is
/// marked: published steps ran whose estimate is above 1 (docs/notes/plan-accuracy.md, "Memory").
inline constexpr double kRefusedOfCapacity = 1.25;

/// Above this part of the capacity, by the estimate, a plan is marked, and another one is advised: allocators
/// need some of it, and the estimate was not checked on today's software. A choice, not a measurement.
inline constexpr double kNearlyFull = 0.95;

/// Samples of a step where none are given, of `sequence` tokens: those of 4 Mi tokens (Llama 2, table 1: a
/// batch of 4M tokens), at least one.
[[nodiscard]] int usual_samples(int sequence);

/// The job with every number filled in, and the defaults that were taken. `gpus` is the number of GPUs,
/// `domain` of those that NVLink connects.
/// Throws Error (usage) where the parallelism does not make that number.
[[nodiscard]] TrainingJob complete_job(const PlanRequest& request, int gpus, int domain,
                                       std::vector<TakenDefault>& defaults);

/// `node`: one of the machine. Throws Error (usage) for what cannot run, with the reason.
[[nodiscard]] TrainingPlan training_plan(const PlanRequest& request, const GpuCluster& node);

}  // namespace collbench::analysis
