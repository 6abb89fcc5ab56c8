#include "analysis/report/diff_report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "base/units.hpp"
#include "topology/catalogue/finding_kinds.hpp"

namespace collbench::analysis {
namespace {

constexpr std::size_t kMaxNames = 6;

std::string first_names(const std::vector<std::string>& names) {
  if (names.size() <= kMaxNames) return topology::join_words(names);
  return fmt::format("{} and {} more", fmt::join(names.begin(), names.begin() + kMaxNames, ", "),
                     names.size() - kMaxNames);
}

/// "ring 363.0 → 20.1 GB/s (−94 %)"; empty for an algorithm that does not change by what is shown.
std::string rate_change(std::string_view algorithm, std::optional<double> healthy,
                        std::optional<double> faulty) {
  if (!healthy) return {};
  if (!faulty) return fmt::format("{} {:.1f} GB/s lost", algorithm, *healthy);
  const double percent = 100 * (*faulty - *healthy) / *healthy;
  if (std::abs(percent) < 0.05) return {};
  return fmt::format("{} {:.1f} → {:.1f} GB/s ({}{:.{}f} %)", algorithm, *healthy, *faulty,
                     percent < 0 ? "−" : "+", std::abs(percent), std::abs(percent) < 1 ? 1 : 0);
}

/// "ring … and best …"; empty where none changes by what is shown.
std::string changed_rates(const FindingCost& cost) {
  std::vector<std::string> rates{rate_change("ring", cost.healthy.ring, cost.faulty.ring),
                                 rate_change("tree", cost.healthy.tree, cost.faulty.tree),
                                 rate_change("best", cost.healthy.best, cost.faulty.best)};
  std::erase(rates, "");
  return topology::join_words(rates);
}

}  // namespace

bool DiffReport::has_fault() const {
  return std::any_of(pairs.begin(), pairs.end(), [](const ComparedHosts& pair) {
    return std::any_of(pair.findings.begin(), pair.findings.end(), [](const PricedFinding& each) {
      return topology::finding_kind(each.finding.code).severity <= topology::Severity::degraded;
    });
  });
}

ComparedHosts compare_hosts(const topology::HostGroup& a, const topology::HostGroup& b, bool a_is_reference) {
  const topology::HostPair pair = topology::pair_hosts(a.first, b.first, a_is_reference);
  topology::TopologyDiff diff = topology::diff_hosts(pair);
  ComparedHosts compared{a.names, b.names, {}, std::move(diff.versions)};
  for (topology::Finding& finding : diff.findings) {
    const std::string host = first_names(finding.side == topology::Side::a ? a.names : b.names);
    FindingPrice price = finding_price(pair, finding);
    compared.findings.push_back({std::move(finding), host, std::move(price)});
  }
  return compared;
}

DiffReport compare_groups(const std::vector<topology::HostGroup>& groups) {
  DiffReport report;
  for (const topology::HostGroup& group : groups) report.nodes += group.names.size();
  for (std::size_t i = 1; i < groups.size(); ++i) {
    ComparedHosts compared = compare_hosts(groups.front(), groups[i], false);
    if (!compared.findings.empty()) report.pairs.push_back(std::move(compared));
  }
  return report;
}

std::string format_cost(const std::vector<FindingCost>& costs) {
  std::vector<std::string> parts;
  int nodes = 0;
  for (const FindingCost& cost : costs) {
    const bool any_changes = std::any_of(costs.begin(), costs.end(), [&cost](const FindingCost& each) {
      return each.nodes == cost.nodes && !changed_rates(each).empty();
    });
    if (!any_changes) continue;
    const std::string rates = changed_rates(cost);
    std::string part;
    if (cost.nodes != nodes) part = fmt::format("on {} node{}: ", cost.nodes, cost.nodes == 1 ? "" : "s");
    nodes = cost.nodes;
    part += rates.empty() ? "nothing" : rates;
    if (cost.when != CostCase::any) part += fmt::format(" {}", cost_case_text(cost.when));
    parts.push_back(std::move(part));
  }
  if (parts.empty()) return {};
  return fmt::format("cost: AllReduce {}", fmt::join(parts, "; "));
}

std::string format_price(const FindingPrice& price) {
  const std::string cost = format_cost(price.costs);
  if (!cost.empty()) {
    if (price.reason.empty()) return cost;
    return fmt::format("{}; {}{}", cost, price.kind == PriceKind::at_least ? "at least: " : "", price.reason);
  }
  switch (price.kind) {
    case PriceKind::priced:
      return "cost: none in the model: AllReduce of 8 GiB keeps its rate" +
             (price.reason.empty() ? std::string() : "; " + price.reason);
    case PriceKind::none:
      return "cost: none: " + price.reason;
    case PriceKind::at_least:
    case PriceKind::not_modeled:
      break;
  }
  return "cost: not modeled: " + price.reason;
}

std::string count_by_severity(const std::vector<PricedFinding>& findings) {
  std::array<int, 4> number{};
  for (const PricedFinding& each : findings)
    ++number.at(static_cast<std::size_t>(topology::finding_kind(each.finding.code).severity));
  std::vector<std::string> parts;
  for (const topology::Severity severity : {topology::Severity::broken, topology::Severity::degraded,
                                            topology::Severity::differs, topology::Severity::cosmetic}) {
    const int count = number.at(static_cast<std::size_t>(severity));
    if (count > 0) parts.push_back(fmt::format("{} {}", count, topology::severity_name(severity)));
  }
  return parts.empty() ? "no difference" : topology::join_words(parts);
}

std::string diff_title(const ComparedHosts& pair) {
  return fmt::format("{} against {}", first_names(pair.b), first_names(pair.a));
}

std::string diff_headline(const DiffReport& report) {
  if (report.nodes == 0) return {};
  std::size_t odd = 0;
  for (const ComparedHosts& pair : report.pairs) odd += pair.b.size();
  if (odd == 0) return fmt::format("{} machines, all identical", report.nodes);
  return fmt::format("{} machines: {} identical, {} different", report.nodes, report.nodes - odd, odd);
}

}  // namespace collbench::analysis
