#include "analysis/verdict/cost_words.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string_view>

#include "base/units.hpp"

namespace collbench::analysis {
namespace {

using Rate = std::optional<double>;

constexpr double kMinPercent = 0.05;  // less is shown as 0.0

/// In percent; none where nothing is known of one of them.
Rate change(const Rate& healthy, const Rate& faulty) {
  if (!healthy || *healthy <= 0) return {};
  return 100 * (faulty.value_or(0) - *healthy) / *healthy;
}

/// "404.9 GB/s (−15 %)"; "nothing".
std::string after_change(const Rate& faulty, double percent) {
  if (!faulty) return "nothing";
  return fmt::format("{:.1f} GB/s ({}{:.{}f} %)", *faulty, percent < 0 ? "−" : "+", std::abs(percent),
                     std::abs(percent) < 1 ? 1 : 0);
}

/// "ring 363.0 → 20.1 GB/s (−94 %)"; empty for an algorithm that does not change by what is shown.
std::string rate_change(std::string_view algorithm, const Rate& healthy, const Rate& faulty) {
  const Rate percent = change(healthy, faulty);
  if (!percent || std::abs(*percent) < kMinPercent) return {};
  return fmt::format("{} {:.1f} → {}", algorithm, *healthy, after_change(faulty, *percent));
}

/// " by ring": where another algorithm is best with the fault.
std::string other_algorithm(const FindingCost& cost) {
  return cost.faulty.best && cost.healthy.best_by != cost.faulty.best_by ? " by " + cost.faulty.best_by : "";
}

/// ", as NCCL plans 8 × 24 instead of 8 × 48 GB/s"
std::string other_plan(const FindingCost& cost) {
  const std::string& before = cost.healthy.ring_plan;
  const std::string& after = cost.faulty.ring_plan;
  if (before.empty() || after.empty() || before == after) return {};
  return fmt::format(", as NCCL plans {} instead of {} GB/s", after, before);
}

/// What the ring loses, with the plan that makes it.
std::string ring_change(const FindingCost& cost) {
  const std::string rates = rate_change("ring", cost.healthy.ring, cost.faulty.ring);
  return rates.empty() ? "" : rates + other_plan(cost);
}

std::string nodes_of(const FindingCost& cost) {
  return counted(static_cast<std::size_t>(cost.nodes), "node");
}

/// " if present when NCCL starts"
std::string case_of(const FindingCost& cost) {
  const std::string_view text = cost_case_text(cost.when);
  return text.empty() ? "" : fmt::format(" {}", text);
}

/// The cost where `rate` falls most, of those that one node has when NCCL starts; null where none changes.
const FindingCost* worst_cost(const std::vector<FindingCost>& costs, Rate PredictedRates::* rate) {
  const FindingCost* worst = nullptr;
  double least = 0;
  for (const FindingCost& cost : costs) {
    if (cost.when == CostCase::all_nodes || cost.when == CostCase::during_job) continue;
    const double percent = change(cost.healthy.*rate, cost.faulty.*rate).value_or(0);
    if (std::abs(percent) < kMinPercent || (worst != nullptr && percent >= least)) continue;
    worst = &cost;
    least = percent;
  }
  return worst;
}

/// " if present when NCCL starts, 237.0 GB/s (−50 %) if it happens during a job": where that differs, on as
/// many nodes.
std::string when_it_came(const std::vector<FindingCost>& costs, const FindingCost& cost,
                         Rate PredictedRates::* rate) {
  for (const FindingCost& later : costs) {
    if (later.when != CostCase::during_job || later.nodes != cost.nodes) continue;
    const Rate percent = change(later.healthy.*rate, later.faulty.*rate);
    if (percent && later.faulty.*rate != cost.faulty.*rate)
      return fmt::format("{}, {}{}", case_of(cost), after_change(later.faulty.*rate, *percent),
                         case_of(later));
  }
  return {};
}

/// "ring … and best …"; empty where none changes by what is shown.
std::string changed_rates(const FindingCost& cost) {
  const std::string best = rate_change("best", cost.healthy.best, cost.faulty.best);
  std::vector<std::string> rates{ring_change(cost), rate_change("tree", cost.healthy.tree, cost.faulty.tree),
                                 best.empty() ? "" : best + other_algorithm(cost)};
  std::erase(rates, "");
  if (rates.empty()) return {};
  if (rates.size() == 1) return rates.front();
  return fmt::format("{} and {}", fmt::join(rates.begin(), rates.end() - 1, ", "), rates.back());
}

}  // namespace

std::string cost_sentence(const std::vector<FindingCost>& costs) {
  if (const FindingCost* cost = worst_cost(costs, &PredictedRates::best)) {
    const std::string by = cost->healthy.best_by.empty() ? "best" : cost->healthy.best_by;
    return fmt::format("AllReduce on {}: {}{}{}", nodes_of(*cost),
                       rate_change(by, cost->healthy.best, cost->faulty.best), other_algorithm(*cost),
                       when_it_came(costs, *cost, &PredictedRates::best));
  }
  if (const FindingCost* cost = worst_cost(costs, &PredictedRates::ring)) {
    return fmt::format("AllReduce on {}: {} keeps its rate; {}{}", nodes_of(*cost), cost->healthy.best_by,
                       ring_change(*cost), when_it_came(costs, *cost, &PredictedRates::ring));
  }
  return {};
}

std::string all_costs(const std::vector<FindingCost>& costs) {
  std::vector<std::string> parts;
  int nodes = 0;
  for (const FindingCost& cost : costs) {
    const bool any_changes = std::any_of(costs.begin(), costs.end(), [&cost](const FindingCost& each) {
      return each.nodes == cost.nodes && !changed_rates(each).empty();
    });
    if (!any_changes) continue;
    const std::string rates = changed_rates(cost);
    parts.push_back(fmt::format("{}{}{}", cost.nodes == nodes ? "" : fmt::format("on {}: ", nodes_of(cost)),
                                rates.empty() ? "nothing" : rates, case_of(cost)));
    nodes = cost.nodes;
  }
  return parts.empty() ? "" : fmt::format("AllReduce {}", fmt::join(parts, "; "));
}

}  // namespace collbench::analysis
