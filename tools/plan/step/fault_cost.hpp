#pragma once
#include <optional>
#include <string>
#include <vector>

#include "analysis/models/nccl/gpu_cluster.hpp"
#include "topology/graph/topology.hpp"

namespace collbench::analysis {

struct PlanRequest;
struct TrainingPlan;

/// What one node that is worse than the others takes from a job that runs when it becomes so. NCCL has
/// planned for healthy nodes, and the whole step waits for the slowest link.
struct FaultCost {
  /// Of the findings that are priced, against the healthy plan.
  struct Price {
    double step_seconds = 0;  ///< with the fault
    double slower = 0;        ///< of the healthy step: 0.09 is 9 % longer
    double tokens_lost_per_day = 0;
    std::optional<double>
        dollars_lost_per_day{};  ///< price of the GPU-hours that no longer train; none: no price
  };
  std::string node;                   ///< what the user calls it: a file, or a fault in words
  bool in_words = false;              ///< it is a fault in words
  std::vector<std::string> findings;  ///< that are priced, in words
  std::vector<std::string> unpriced;  ///< that no model of a step knows, in words, with the reason
  std::optional<Price> price{};       ///< none: nothing of it is priced, so the cost is not known
};

/// What the collectives of the plan's record cost the job, against those of the model alone. None where they
/// are not slower, or without a record.
[[nodiscard]] std::optional<FaultCost::Price> measured_cost(const PlanRequest& request,
                                                            const TrainingPlan& plan, const GpuCluster& node);

/// `healthy` and `faulty`: one node of the machine, and the one that has the faults. Throws Error (usage)
/// that names `option` where they differ in GPUs (such a job does not run), and where the request's network
/// stands in place of their NICs.
[[nodiscard]] FaultCost fault_cost(const PlanRequest& request, const TrainingPlan& plan,
                                   const GpuCluster& node, const topology::Host& healthy,
                                   const topology::Host& faulty, const std::string& name,
                                   const std::string& option);

}  // namespace collbench::analysis
