#include "analysis/plan/fault_cost.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "analysis/models/nccl/node_nics.hpp"
#include "analysis/plan/plan.hpp"
#include "analysis/plan/planned_machine.hpp"
#include "analysis/plan/step.hpp"
#include "analysis/verdict/finding_cost.hpp"
#include "base/error.hpp"
#include "topology/diff/topology_diff.hpp"

namespace collbench::analysis {
namespace {

constexpr double kSecondsPerDay = 86'400;
constexpr double kHoursPerDay = 24;

/// A slower NIC, or PCIe on its way, while the job runs; fewer NVLinks, which the rates of a group read.
bool is_in_the_step(std::string_view code) {
  return price_rule(code).can_come_during_a_job || code == "nvlink-fewer";
}

/// The node with the slowest rates of both: each group of ranks waits for its slowest link.
GpuCluster slowest_of(GpuCluster node, const GpuCluster& faulty, const topology::Host& healthy_host,
                      const topology::Host& faulty_host) {
  const auto before = slowest_nic(healthy_host, healthy_host);
  const auto slow = slowest_nic(healthy_host, faulty_host);
  if (before && slow && slow->nccl_rate() < before->nccl_rate()) {
    node.nic_line_rate = slow->line_rate;
    node.nic_path = slow->path;
    node.slower_nics.clear();
  }
  node.nvlinks = std::min(node.nvlinks, faulty.nvlinks);
  if (node.host_path > 0 && faulty.host_path > 0) node.host_path = std::min(node.host_path, faulty.host_path);
  return node;
}

}  // namespace

FaultCost fault_cost(const PlanRequest& request, const TrainingPlan& plan, const GpuCluster& node,
                     const topology::Host& healthy, const topology::Host& faulty, const std::string& name) {
  if (request.nic_gbps_per_gpu) {
    throw usage_error("--faulty", "--nic-gbps-per-gpu stands in place of the NICs of both machines",
                      "leave one of the two out");
  }
  if (healthy.gpus.size() != faulty.gpus.size()) {
    throw usage_error(
        "--faulty",
        fmt::format("{} has {} GPUs, and the machine of the plan has {}", name, faulty.gpus.size(),
                    healthy.gpus.size()),
        "a job that is split over all of them does not run: plan it with --topology on its own");
  }
  FaultCost cost{.node = name, .findings = {}, .unpriced = {}};
  const topology::HostPair pair = topology::pair_hosts(healthy, faulty, false);
  for (const topology::Finding& finding : topology::diff_hosts(pair).findings) {
    const std::string words = fmt::format("{}: {}", finding.device, finding.what);
    if (is_in_the_step(finding.code)) {
      cost.findings.push_back(words);
    } else if (price_rule(finding.code).kind != PriceKind::none) {
      const std::string_view reason = price_rule(finding.code).reason;
      cost.unpriced.push_back(reason.empty() ? words : fmt::format("{} ({})", words, reason));
    }
  }
  const GpuCluster worse =
      slowest_of(node, gpu_cluster(faulty, 1, node.ranks_per_node, name), healthy, faulty);
  const PlannedMachine machine = planned_machine(request, worse);
  cost.step_seconds = step_time(plan.job, machine.node, machine.rates(), {}, plan.measured.get()).seconds();
  cost.slower = cost.step_seconds / plan.step_seconds - 1;
  const double tokens = static_cast<double>(plan.job.global_batch) * plan.job.sequence;
  cost.tokens_lost_per_day = kSecondsPerDay * tokens * (1 / plan.step_seconds - 1 / cost.step_seconds);
  if (request.price_per_gpu_hour) {
    const double lost = 1 - plan.step_seconds / cost.step_seconds;
    cost.dollars_lost_per_day = kHoursPerDay * plan.job.gpus() * *request.price_per_gpu_hour * lost;
  }
  return cost;
}

}  // namespace collbench::analysis
