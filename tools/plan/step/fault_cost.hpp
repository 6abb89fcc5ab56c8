#pragma once
#include <optional>
#include <string>
#include <vector>

#include "analysis/models/nccl/gpu_cluster.hpp"
#include "topology/graph/topology.hpp"

namespace collbench::analysis {

struct PlanRequest;
struct TrainingPlan;

/// A NIC that is slower than the machine says.
struct SlowNic {
  int nic = 0;                ///< as `topo` counts them, from 0
  std::optional<int> node{};  ///< from 0; none: any
  /// One of the two: of its rate, below 1, or Gb/s.
  std::optional<double> part{};
  std::optional<double> gigabits_per_second{};
  bool down = false;  ///< in place of both
};

/// "nic 3 of node 17 at half", "nic 0 at 25 %", "nic 3 at 200 Gb/s", "nic 3 of node 17 down".
/// Throws Error (usage) that names `where`.
[[nodiscard]] SlowNic parse_slow_nic(const std::string& words, const std::string& where);

/// The node with that NIC. Throws Error (usage) that names `where` for a NIC or a node that there is not
/// (`nodes`: how many the job has), for a NIC whose rate is not known, and for one that would not be slower.
[[nodiscard]] topology::Host with_slow_nic(topology::Host host, const SlowNic& slow, int nodes,
                                           const std::string& where);

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
  double stall_seconds = 0;           ///< of all GPUs, once: until the job, restarted, is where it was
  std::optional<double> stall_dollars{};
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

/// Of a NIC that is down: NCCL's connections end and the job with them, and it is restarted on the same
/// nodes, of which one has a NIC less.
[[nodiscard]] FaultCost cost_of_nic_down(const PlanRequest& request, const TrainingPlan& plan,
                                         const GpuCluster& node, const std::string& name);

}  // namespace collbench::analysis
