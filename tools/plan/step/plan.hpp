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
  int steps;
  double median;
  double p90;  ///< nine of ten are within it
};

/// Of the steps like this one; none where no such step was compared. `gpu` is a TrainingGpu's name. Those
/// with experts were planned with the stack of each told: none where it is not (`stack_given`). The figures
/// are those of docs/notes/plan-accuracy.md, "By kind"; scripts/plan-accuracy says where they differ.
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
  std::optional<bool> sequence_parallel;  ///< none: as the stack does
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
  double searched_capacity = 1;  ///< part of a GPU's memory up to which a search takes a split
  bool names_a_fit = false;      ///< a refusal for memory names a split that fits, which takes a search

  // The whole run.
  std::optional<double> tokens;
  std::optional<double> price_per_gpu_hour;
  bool prices_a_day = false;  ///< the price is for a day, which needs no number of tokens
  double pue = 1.2;           ///< power of the site, of that of the IT
  std::optional<double> price_per_kwh;
  double interruption_gpu_hours = 50'700;  ///< between interruptions: Llama 3, 419 in 54 days on 16,384 GPUs
  double checkpoint_seconds = 30;          ///< that a checkpoint stops the step
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
  double megawatt_hours = 0;  ///< of the GPUs' boards at their limit × PUE
  std::optional<double> energy_dollars;
};

/// Young's and Daly's interval, and what is left of the time. Sources: Young 1974; Daly 2006, first order.
struct Goodput {
  double fleet_mtbf_seconds = 0;
  double interval_seconds = 0;  ///< sqrt(2 · checkpoint · MTBF)
  double useful_part = 0;       ///< 1 − C/T − (T/2 + R)/M; 0 where that is below
};

[[nodiscard]] Goodput goodput(double gpus, double interruption_gpu_hours, double checkpoint_seconds,
                              double restart_seconds);

/// A part at half its cost.
struct Sensitivity {
  StepPart part = StepPart::other;
  double step_seconds = 0;
};

/// Where the groups of one kind lie.
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
  std::optional<RunCost> cost;
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

/// `node`: one of the machine. Throws Error (usage) for what cannot run, with the reason.
[[nodiscard]] TrainingPlan training_plan(const PlanRequest& request, const GpuCluster& node);

/// The items in GB, "parameters 8.8, gradients 17.6, … = 75.2 of 80 GB".
[[nodiscard]] std::string memory_in_words(const MemoryUse& use, double capacity_bytes);

}  // namespace collbench::analysis
