#include "tools/plan/step/planned_machine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analysis/models/nccl/links.hpp"
#include "base/error.hpp"

namespace collbench::analysis {
namespace {

constexpr double kGigabits = 8;  ///< per GB

/// The node with the network that the user gives in place of its own.
GpuCluster with_given_network(GpuCluster machine, const PlanRequest& request) {
  // Groups of ranks are clusters of their own, of which NCCL's plan for the whole node says nothing.
  machine.planned.reset();
  if (!request.nic_gbps_per_gpu) return machine;
  machine.nics = machine.ranks_per_node;
  machine.nic_line_rate = *request.nic_gbps_per_gpu / kGigabits;
  machine.nic_path = 0;
  machine.slower_nics.clear();
  if (machine.transport == Transport::unknown)
    machine.transport = machine.nic_transport = Transport::infiniband;
  return machine;
}

topology::TrainingGpu gpu_of(const PlanRequest& request, const GpuCluster& machine) {
  topology::TrainingGpu gpu = topology::find_training_gpu(request.gpu.empty() ? machine.gpu : request.gpu,
                                                          request.gpu.empty() ? "--topology" : "--gpu");
  if (request.hbm_gbps) gpu.hbm_rate = *request.hbm_gbps * 1e9;
  return gpu;
}

double peak_of(const topology::TrainingGpu& gpu, Precision precision) {
  if (precision <= Precision::bf16) return gpu.peak_bf16;
  return precision == Precision::fp4 ? gpu.peak_fp4 : gpu.peak_fp8;
}

}  // namespace

PlannedMachine planned_machine(const PlanRequest& request, const GpuCluster& node) {
  PlannedMachine machine{.node = with_given_network(node, request)};
  machine.gpu = gpu_of(request, machine.node);
  machine.gpus = request.n_gpus.value_or(machine.node.ranks_per_node);
  GpuCluster all = machine.node;
  all.nodes = machine.nodes();
  join_domains(all, request.fabric, "--fabric");
  machine.node.fabric = all.fabric;
  const Precision precision = request.precision.value_or(Precision::bf16);
  machine.peak_flops = peak_of(machine.gpu, precision);
  if (machine.peak_flops <= 0) {
    throw usage_error("--precision", fmt::format("{} has no {} products", machine.gpu.name, name(precision)),
                      "give a precision that the GPU has");
  }
  if (machine.nodes() > machine.node.nodes_per_domain && machine.node.nics == 0) {
    throw usage_error("--nodes", "this topology has no NIC, so it cannot reach other nodes",
                      "give --nic-gbps-per-gpu, or plan one node");
  }
  machine.watts = std::min(machine.gpu.watts, request.power_limit_watts.value_or(machine.gpu.watts));
  machine.assumed = request.assumed;
  machine.clock = std::pow(machine.watts / machine.gpu.watts, request.assumed.power_exponent);
  return machine;
}

}  // namespace collbench::analysis
