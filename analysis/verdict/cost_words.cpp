#include "analysis/verdict/finding_cost.hpp"

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

std::string nodes_of(const FindingCost& cost) { return counted(cost.nodes, "node"); }

/// " if present when NCCL starts"
std::string case_of(const FindingCost& cost) {
  const std::string_view text = cost_case_text(cost.when);
  return text.empty() ? "" : fmt::format(" {}", text);
}

/// The cost where `rate` falls most: after NCCL has started, or of those that one node has when it starts.
/// Null where none changes.
const FindingCost* worst_cost(const std::vector<FindingCost>& costs, bool during_job,
                              Rate PredictedRates::* rate) {
  const FindingCost* worst = nullptr;
  double least = 0;
  for (const FindingCost& cost : costs) {
    if (cost.when == CostCase::all_nodes || (cost.when == CostCase::during_job) != during_job) continue;
    const double percent = change(cost.healthy.*rate, cost.faulty.*rate).value_or(0);
    if (std::abs(percent) < kMinPercent || (worst != nullptr && percent >= least)) continue;
    worst = &cost;
    least = percent;
  }
  return worst;
}

double percent_of(const FindingCost* cost, Rate PredictedRates::* rate) {
  return cost == nullptr ? 0 : change(cost->healthy.*rate, cost->faulty.*rate).value_or(0);
}

/// ", 237.0 GB/s (−50 %) if it happens during a job"; with its nodes where they are others than `nodes`.
std::string during_a_job(const FindingCost& later, int nodes, Rate PredictedRates::* rate) {
  return fmt::format(", {}{}{}", later.nodes == nodes ? "" : fmt::format("on {} ", nodes_of(later)),
                     after_change(later.faulty.*rate, percent_of(&later, rate)), case_of(later));
}

/// What one rate loses, at NCCL's start and during a job; empty where it keeps its value in both.
std::string loss_of(const std::vector<FindingCost>& costs, Rate PredictedRates::* rate, bool is_best) {
  const FindingCost* const start = worst_cost(costs, false, rate);
  const FindingCost* const later = worst_cost(costs, true, rate);
  const FindingCost* const shown = start != nullptr ? start : later;
  if (shown == nullptr) return {};
  const std::string by =
      !is_best || shown->healthy.best_by.empty() ? (is_best ? "best" : "ring") : shown->healthy.best_by;
  const std::string on = fmt::format("AllReduce on {}: ", nodes_of(*shown));
  if (start == nullptr)
    return fmt::format("{}{} keeps {:.1f} GB/s if present when NCCL starts{}", on, by,
                       (shown->healthy.*rate).value_or(0), during_a_job(*later, shown->nodes, rate));
  const bool is_worse_later =
      later != nullptr && std::abs(percent_of(later, rate) - percent_of(start, rate)) >= kMinPercent;
  return fmt::format("{}{}{}{}{}", on, rate_change(by, start->healthy.*rate, start->faulty.*rate),
                     is_best ? other_algorithm(*start) : other_plan(*start),
                     is_worse_later ? case_of(*start) : "",
                     is_worse_later ? during_a_job(*later, start->nodes, rate) : "");
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
  constexpr double kMuchMore = 1.5;  // than NVLS loses: what runs as a ring feels it
  const std::string ring = loss_of(costs, &PredictedRates::ring, false);
  const std::string best = loss_of(costs, &PredictedRates::best, true);
  if (best.empty()) {
    if (ring.empty()) return {};
    const std::string& by = costs.front().healthy.best_by;
    return fmt::format("{}; {} keeps its rate", ring, by.empty() ? "the best algorithm" : by);
  }
  const double of_ring = percent_of(worst_cost(costs, false, &PredictedRates::ring), &PredictedRates::ring);
  const double of_best = percent_of(worst_cost(costs, false, &PredictedRates::best), &PredictedRates::best);
  const bool is_said = of_ring >= 0 || of_ring > kMuchMore * of_best;
  return is_said
             ? best
             : fmt::format("{}; what runs as a ring (AllGather, ReduceScatter) −{:.0f} %", best, -of_ring);
}

std::string all_costs(const std::vector<FindingCost>& costs) {
  std::vector<std::string> parts;
  int nodes = 0;
  for (const FindingCost& cost : costs) {
    const bool any_changes = std::ranges::any_of(costs, [&cost](const FindingCost& each) {
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
