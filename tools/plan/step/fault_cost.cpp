#include "tools/plan/step/fault_cost.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "analysis/models/nccl/node_nics.hpp"
#include "analysis/verdict/finding_cost.hpp"
#include "base/error.hpp"
#include "tools/plan/step/plan.hpp"
#include "tools/plan/step/planned_machine.hpp"
#include "tools/plan/step/step.hpp"
#include "topology/diff/topology_diff.hpp"

namespace collbench::analysis {
namespace {

constexpr double kSecondsPerDay = 86'400;
constexpr double kHoursPerDay = 24;

bool is_fewer_nvlinks(const topology::Finding& finding) { return finding.code == "nvlink-fewer"; }

/// A slower NIC, or PCIe on its way.
bool is_slower_path(const topology::Finding& finding) {
  return price_rule(finding.code).can_come_during_a_job;
}

/// Whether the model of a step has a price for it: the faulty node is the worse one, and its GPUs keep at
/// least one NVLink each (without any, NCCL's way is not known).
bool is_priced(const topology::Finding& finding, const GpuCluster& node, const GpuCluster& faulty) {
  if (finding.side != topology::Side::b) return false;
  if (is_fewer_nvlinks(finding)) return node.nvlinks > 0 && faulty.nvlinks > 0;
  return is_slower_path(finding);
}

std::string finding_in_words(const topology::Finding& finding) {
  return fmt::format("{}: {}", finding.device, finding.what);
}

/// With the reason why it has no price, where one is known.
std::string unpriced_in_words(const topology::Finding& finding) {
  std::string_view reason = price_rule(finding.code).reason;
  if (finding.side != topology::Side::b) {
    reason = "the node has more, not less";
  } else if (is_fewer_nvlinks(finding)) {
    reason = "how NCCL goes around a GPU without NVLinks is not known";
  }
  const std::string words = finding_in_words(finding);
  return reason.empty() ? words : fmt::format("{} ({})", words, reason);
}

/// The node with what the priced findings slow down, and nothing else of the faulty one: each group of ranks
/// waits for its slowest link.
GpuCluster with_priced(GpuCluster node, const GpuCluster& faulty, const topology::HostPair& pair,
                       const std::vector<topology::Finding>& priced) {
  if (std::ranges::any_of(priced, is_fewer_nvlinks)) node.nvlinks = std::min(node.nvlinks, faulty.nvlinks);
  if (std::ranges::none_of(priced, is_slower_path)) return node;
  const auto before = slowest_nic(pair.a, pair.a);
  const auto slow = slowest_nic(pair.a, pair.b);
  if (before && slow && slow->nccl_rate() < before->nccl_rate()) {
    node.nic_line_rate = slow->line_rate;
    node.nic_path = slow->path;
    node.slower_nics.clear();
  }
  if (node.host_path > 0 && faulty.host_path > 0) node.host_path = std::min(node.host_path, faulty.host_path);
  return node;
}

/// Of a step that takes `seconds` in place of `healthy` ones; none where it has no finite time.
std::optional<FaultCost::Price> price_of(const PlanRequest& request, const TrainingPlan& plan, double healthy,
                                         double seconds) {
  if (!std::isfinite(seconds)) return std::nullopt;
  FaultCost::Price price;
  price.step_seconds = seconds;
  price.slower = seconds / healthy - 1;
  const double tokens = static_cast<double>(plan.job.global_batch) * plan.job.sequence;
  price.tokens_lost_per_day = kSecondsPerDay * tokens * (1 / healthy - 1 / seconds);
  if (request.price_per_gpu_hour) {
    const double lost = 1 - healthy / seconds;
    price.dollars_lost_per_day = kHoursPerDay * plan.job.gpus() * *request.price_per_gpu_hour * lost;
  }
  return price;
}

/// Seconds of the job's step on such nodes.
double step_on(const PlanRequest& request, const TrainingPlan& plan, const GpuCluster& node,
               const MeasuredCollectives* measured) {
  const PlannedMachine machine = planned_machine(request, node);
  return step_time(plan.job, machine.node, machine.rates(), {}, measured).seconds();
}

}  // namespace

std::optional<FaultCost::Price> measured_cost(const PlanRequest& request, const TrainingPlan& plan,
                                              const GpuCluster& node) {
  if (!plan.measured) return std::nullopt;
  const double alone = step_on(request, plan, node, nullptr);
  if (plan.step_seconds <= alone) return std::nullopt;
  return price_of(request, plan, alone, plan.step_seconds);
}

FaultCost cost_of_nic_down(const PlanRequest& request, const TrainingPlan& plan, const GpuCluster& node,
                           const std::string& name) {
  FaultCost cost{.node = name, .findings = {}, .unpriced = {}};
  if (plan.nodes <= node.nodes_per_domain) cost.unpriced = {"NVLink connects all of the job's GPUs"};
  if (node.nics < 2) cost.unpriced = {"its node has no other NIC"};
  if (request.nic_gbps_per_gpu) cost.unpriced = {"--nic-gbps-per-gpu stands in place of the NICs"};
  if (!cost.unpriced.empty()) return cost;
  GpuCluster fewer = node;
  fewer.slower_nics.emplace_back();  // of no rate: group_time.cpp
  cost.price = price_of(request, plan, plan.step_seconds, step_on(request, plan, fewer, plan.measured.get()));
  cost.findings.push_back(fmt::format("restarted with {} NICs in that node", node.nics - 1));
  cost.stall_seconds =
      plan.goodput.interval_seconds / 2 + plan.checkpoint.write_seconds + request.restart_seconds;
  if (request.price_per_gpu_hour)
    cost.stall_dollars = cost.stall_seconds / 3600 * plan.job.gpus() * *request.price_per_gpu_hour;
  return cost;
}

FaultCost fault_cost(const PlanRequest& request, const TrainingPlan& plan, const GpuCluster& node,
                     const topology::Host& healthy, const topology::Host& faulty, const std::string& name,
                     const std::string& option) {
  if (request.nic_gbps_per_gpu) {
    throw usage_error(option, "--nic-gbps-per-gpu stands in place of the NICs of both machines",
                      "leave one of the two out");
  }
  if (healthy.gpus.size() != faulty.gpus.size()) {
    throw usage_error(
        option,
        fmt::format("{} has {} GPUs, and the machine of the plan has {}", name, faulty.gpus.size(),
                    healthy.gpus.size()),
        "a job that is split over all of them does not run: plan it with --topology on its own");
  }
  FaultCost cost{.node = name, .findings = {}, .unpriced = {}};
  const GpuCluster faulty_node = gpu_cluster(faulty, 1, node.ranks_per_node, name);
  const topology::HostPair pair = topology::pair_hosts(healthy, faulty, false);
  std::vector<topology::Finding> priced;
  for (topology::Finding& finding : topology::diff_hosts(pair).findings) {
    if (is_priced(finding, node, faulty_node)) {
      priced.push_back(std::move(finding));
    } else if (price_rule(finding.code).kind != PriceKind::none) {
      cost.unpriced.push_back(unpriced_in_words(finding));
    }
  }
  if (priced.empty()) return cost;
  cost.price =
      price_of(request, plan, plan.step_seconds,
               step_on(request, plan, with_priced(node, faulty_node, pair, priced), plan.measured.get()));
  std::vector<std::string>& words = cost.price ? cost.findings : cost.unpriced;
  for (const topology::Finding& finding : priced) words.push_back(finding_in_words(finding));
  return cost;
}

}  // namespace collbench::analysis
