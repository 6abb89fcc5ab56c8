// What a fault costs, held against what NCCL's own search and table say of the same machine.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "analysis/models/nccl/gpu_cluster.hpp"
#include "analysis/models/nccl/planned_node.hpp"
#include "analysis/verdict/finding_cost.hpp"
#include "base/record/operation.hpp"
#include "tests/analysis/models/nccl/nccl_plans.hpp"

namespace collbench::analysis::nccl_price_test {
namespace {

constexpr double kTolerance = 0.03;  // of the healthy rate
constexpr int kNodes = 2;

NodePlan plan_of(const SeenNode& seen) {
  const auto channels = [](const SeenPlan& plan) {
    return ChannelPlan{
        .channels = plan.channels, .within_node = plan.within_node, .across_nodes = plan.across_nodes};
  };
  return {channels(seen.ring), channels(seen.tree), channels(seen.nvls)};
}

/// GB/s as busbw, by algorithm. Of rings channels × speed as NCCL printed them; of trees and NVLS what its
/// table makes of channels and speeds; the best is the quickest by S / time.
struct NcclRates {
  double ring = 0;
  double tree = 0;
  double nvls = 0;
  double best = 0;
  std::string best_by;
};

NcclRates nccl_rates(const NodePlan& plan, GpuGeneration generation, std::size_t gpus) {
  const int ranks = kNodes * static_cast<int>(gpus);
  const PlanRates found = plan_rates(plan, generation, kNodes, ranks);
  const double factor = bus_factor(operation(OperationId::all_reduce), ranks);
  const auto best = std::max(
      {std::pair{found.ring, "ring"}, std::pair{found.tree, "tree"}, std::pair{found.nvls, "nvls_tree"}});
  return {plan.ring.channels * static_cast<double>(plan.ring.within_node), factor * found.tree,
          factor * found.nvls, factor * best.first, best.second};
}

/// The machine without a fault under each setting.
std::map<std::tuple<std::string, bool, int>, NodePlan> healthy_plans(const std::vector<SeenNode>& all) {
  std::map<std::tuple<std::string, bool, int>, NodePlan> plans;
  for (const SeenNode& seen : all) {
    if (seen.fault == "none")
      plans[{seen.machine, seen.settings.pxn, seen.settings.cross_nic}] = plan_of(seen);
  }
  return plans;
}

/// The price of what diff finds, or of both machines where a fault is more than one finding. None: no
/// finding.
std::optional<FindingCost> price_between_nodes(const topology::Host& healthy, const topology::Host& faulty,
                                               const SeenNode& seen) {
  const topology::HostPair pair = topology::pair_hosts(healthy, faulty, true);
  const auto findings = topology::diff_hosts(pair).findings;
  if (findings.empty()) return std::nullopt;
  const auto costs = findings.size() == 1 ? finding_costs(pair, findings.front(), seen.settings)
                                          : machine_costs(healthy, faulty, false, seen.settings);
  std::optional<FindingCost> found;
  for (const FindingCost& cost : costs) {
    if (cost.nodes != kNodes || cost.when == CostCase::during_job) continue;
    const bool fits = cost.when == CostCase::any ||
                      cost.when == (seen.on_all_nodes ? CostCase::all_nodes : CostCase::at_start);
    if (!found || fits) found = cost;
  }
  return found;
}

double loss(double healthy, double faulty) { return healthy > 0 ? 1 - faulty / healthy : 0; }

double loss(std::optional<double> healthy, std::optional<double> faulty) {
  return loss(healthy.value_or(0), faulty.value_or(0));
}

/// What the price leaves out; docs/notes/model-evidence.md, "Where the price and NCCL's own figures differ".
bool is_left_out(const SeenNode& seen, const std::string& algorithm, const NcclRates& before,
                 const NcclRates& after) {
  if (algorithm == "best" && before.best_by != after.best_by) return true;
  const bool of_nvls = algorithm == "nvls_tree" || (algorithm == "best" && before.best_by == "nvls_tree");
  return of_nvls && seen.machine == "hgx-h100" && seen.fault.starts_with("pair");
}

TEST(NcclPrice, OfThreeHundredFaultsIsWhatNcclsOwnSearchSays) {
  constexpr int kMaxLeftOut = 30;
  const std::vector<SeenNode> all = seen_nodes();
  const auto healthy_by_settings = healthy_plans(all);
  int faults = 0;
  int left_out = 0;
  for (const SeenNode& seen : all) {
    if (seen.fault == "none") continue;
    ++faults;
    const topology::ReferenceMachine& machine = *topology::find_reference_machine(seen.machine);
    const auto generation = gpu_cluster(machine, 1, 0).generation;
    const topology::Host healthy = topology::reference_host(machine);
    const topology::Host faulty = with_fault(healthy, seen.fault);
    const NodePlan& whole =
        healthy_by_settings.at({seen.machine, seen.settings.pxn, seen.settings.cross_nic});
    const NodePlan left = seen.on_all_nodes ? plan_of(seen) : agreed(plan_of(seen), whole);
    const NcclRates before = nccl_rates(whole, generation, healthy.gpus.size());
    const NcclRates after = nccl_rates(left, generation, faulty.gpus.size());
    const FindingCost price = price_between_nodes(healthy, faulty, seen).value_or(FindingCost{});
    bool all_agree = true;
    const auto compare = [&](const std::string& algorithm, double ours, double nccls) {
      if (std::abs(ours - nccls) <= kTolerance) return;
      all_agree = false;
      EXPECT_TRUE(is_left_out(seen, algorithm, before, after)) << fmt::format(
          "{}, {}: the price is {:.3f}, NCCL loses {:.3f}", seen.what(), algorithm, ours, nccls);
    };
    const PredictedRates& was = price.healthy;
    const PredictedRates& is = price.faulty;
    compare("ring", loss(was.ring, is.ring), loss(before.ring, after.ring));
    compare("tree", loss(was.tree, is.tree), loss(before.tree, after.tree));
    compare("nvls_tree", loss(was.nvls, is.nvls), loss(before.nvls, after.nvls));
    compare("best", loss(was.best, is.best), loss(before.best, after.best));
    if (!all_agree) {
      ++left_out;
      GTEST_LOG_(INFO) << "left out: " << seen.what();
    }
  }
  EXPECT_EQ(faults, 300);
  EXPECT_LE(left_out, kMaxLeftOut);
}

}  // namespace
}  // namespace collbench::analysis::nccl_price_test
