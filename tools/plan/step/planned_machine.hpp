#pragma once
#include "analysis/models/nccl/gpu_cluster.hpp"
#include "tools/plan/step/layer_time.hpp"
#include "tools/plan/step/plan.hpp"
#include "topology/catalog/training_gpus.hpp"

namespace collbench::analysis {

/// The machine of a plan, with what the request gives in place of its own.
struct PlannedMachine {
  GpuCluster node;
  topology::TrainingGpu gpu{};
  int gpus = 0;           ///< of all nodes
  double watts = 0;       ///< of a GPU's board
  double peak_flops = 0;  ///< of a GPU at the request's precision
  Assumptions assumed{};
  double clock = 1;  ///< by the power limit, of the full one

  /// Valid as long as this machine is.
  [[nodiscard]] ComputeRates rates() const { return {.gpu = &gpu, .assumed = assumed, .clock = clock}; }
  [[nodiscard]] int nodes() const { return (gpus + node.ranks_per_node - 1) / node.ranks_per_node; }
  /// Of a GPU with its part of the server; of the board alone where no server's is known (GH200).
  [[nodiscard]] double server_watts() const { return watts + gpu.server_watts; }
  /// GPUs that NVLink connects.
  [[nodiscard]] int domain() const { return node.ranks_per_node * node.nodes_per_domain; }
};

/// `node`: one of the machine. Throws Error (usage) for a GPU without training rates, a precision that it has
/// not, and several nodes without a network.
[[nodiscard]] PlannedMachine planned_machine(const PlanRequest& request, const GpuCluster& node);

}  // namespace collbench::analysis
