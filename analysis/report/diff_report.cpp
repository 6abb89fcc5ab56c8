#include "analysis/report/diff_report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <utility>

#include "base/units.hpp"
#include "topology/catalogue/finding_kinds.hpp"
#include "topology/machines/reference_machines.hpp"

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

constexpr std::string_view kOtherMachine = "different-machine";

bool has_code(const std::vector<PricedFinding>& findings, std::string_view code) {
  return std::any_of(findings.begin(), findings.end(),
                     [code](const PricedFinding& each) { return each.finding.code == code; });
}

/// Empty for a machine from a file, and for a reference machine that a published file has confirmed.
std::string reference_note(const topology::HostGroup& group) {
  const topology::ReferenceMachine* machine = topology::find_reference_machine(group.names.front());
  return machine == nullptr || !topology::checked_against(*machine).empty() ? std::string()
                                                                            : topology::how_checked(*machine);
}

}  // namespace

bool DiffReport::has_other_machine() const {
  return std::any_of(pairs.begin(), pairs.end(),
                     [](const ComparedHosts& pair) { return has_code(pair.findings, kOtherMachine); });
}

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
  ComparedHosts compared{a.names, b.names, {}, std::move(diff.versions), b.hosts.empty() ? b.names : b.hosts};
  if (a_is_reference) compared.reference_note = reference_note(a);
  for (topology::Finding& finding : diff.findings) {
    // The title names them all.
    const std::string host = finding.side == topology::Side::a ? first_names(a.names)
                             : b.names.size() > kMaxNames      ? fmt::format("{} machines", b.names.size())
                                                               : topology::join_words(b.names);
    FindingPrice price = finding_price(pair, finding);
    compared.findings.push_back({std::move(finding), host, std::move(price)});
  }
  return compared;
}

DiffReport compare_groups(const std::vector<topology::HostGroup>& groups) {
  DiffReport report;
  report.by_majority = true;
  for (const topology::HostGroup& group : groups) report.nodes += group.names.size();
  for (std::size_t i = 1; i < groups.size(); ++i) {
    ComparedHosts compared = compare_hosts(groups.front(), groups[i], false);
    if (!compared.findings.empty()) report.pairs.push_back(std::move(compared));
  }
  return report;
}

DiffReport compare_with(const topology::HostGroup& expected, const std::vector<topology::HostGroup>& groups,
                        bool is_reference) {
  DiffReport report;
  std::size_t nodes = 0;
  for (const topology::HostGroup& group : groups) {
    nodes += group.names.size();
    report.pairs.push_back(compare_hosts(expected, group, is_reference));
  }
  report.nodes = nodes > 1 ? nodes : 0;
  return report;
}

std::vector<OddNode> odd_nodes(const DiffReport& report) {
  std::vector<OddNode> nodes;
  if (report.nodes == 0) return nodes;
  for (const ComparedHosts& pair : report.pairs) {
    const bool fault = DiffReport{{pair}}.has_fault();
    if (pair.findings.empty() || (!report.by_majority && DiffReport{{pair}}.passes())) continue;
    std::vector<std::string> findings;
    for (const PricedFinding& each : pair.findings) {
      const topology::FindingKind& kind = topology::finding_kind(each.finding.code);
      if (kind.severity > topology::Severity::degraded && fault) continue;
      findings.push_back(fmt::format("{}{} {} {}",
                                     each.finding.side == topology::Side::a ? "the others: " : "",
                                     topology::severity_name(kind.severity), kind.code, each.finding.device));
    }
    for (const std::string& host : pair.hosts) nodes.push_back({host, findings});
  }
  std::sort(nodes.begin(), nodes.end(), [](const OddNode& x, const OddNode& y) { return x.host < y.host; });
  return nodes;
}

namespace {

std::vector<std::string> odd_names(const DiffReport& report) {
  std::vector<std::string> names;
  for (const OddNode& node : odd_nodes(report)) names.push_back(node.host);
  return names;
}

/// A host's name without the number at its end, and that number with its leading zeros.
std::pair<std::string, std::string> split_number(const std::string& host) {
  const std::size_t last = host.find_last_not_of("0123456789");
  const std::size_t at = last == std::string::npos ? 0 : last + 1;
  constexpr std::size_t kMaxDigits = 9;
  return host.size() - at > kMaxDigits ? std::pair(host, std::string())
                                       : std::pair(host.substr(0, at), host.substr(at));
}

}  // namespace

std::string slurm_node_list(std::vector<std::string> hosts) {
  std::sort(hosts.begin(), hosts.end());
  hosts.erase(std::unique(hosts.begin(), hosts.end()), hosts.end());
  std::map<std::pair<std::string, std::size_t>, std::vector<int>> numbers;  // by prefix and width
  std::vector<std::string> words;
  for (const std::string& host : hosts) {
    const auto [prefix, digits] = split_number(host);
    if (digits.empty()) {
      words.push_back(host);
    } else {
      numbers[{prefix, digits.size()}].push_back(std::stoi(digits));
    }
  }
  std::vector<std::string> lists;
  for (const auto& [key, all] : numbers) {
    const auto& [prefix, width] = key;
    std::vector<std::string> ranges;
    for (std::size_t i = 0; i < all.size();) {
      std::size_t last = i;
      while (last + 1 < all.size() && all[last + 1] == all[last] + 1) ++last;
      ranges.push_back(last == i ? fmt::format("{:0{}}", all[i], width)
                                 : fmt::format("{:0{}}-{:0{}}", all[i], width, all[last], width));
      i = last + 1;
    }
    const bool one = all.size() == 1;
    lists.push_back(one ? prefix + ranges.front() : fmt::format("{}[{}]", prefix, fmt::join(ranges, ",")));
  }
  lists.insert(lists.end(), words.begin(), words.end());
  return fmt::format("{}", fmt::join(lists, ","));
}

std::string report_hostfile(const DiffReport& report) {
  std::string text;
  for (const std::string& name : odd_names(report)) text += name + "\n";
  return text;
}

std::string report_slurm(const DiffReport& report) {
  const std::string list = slurm_node_list(odd_names(report));
  return list.empty() ? list : list + "\n";
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
  std::string cost = format_cost(price.costs);
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
  if (parts.empty()) return "no difference";
  return (has_code(findings, kOtherMachine) ? "a different machine, " : "") + topology::join_words(parts);
}

std::string diff_title(const ComparedHosts& pair) {
  const std::string note = pair.reference_note.empty() ? "" : fmt::format(" ({})", pair.reference_note);
  return fmt::format("{} against {}{}", topology::join_words(pair.b), first_names(pair.a), note);
}

std::string diff_headline(const DiffReport& report) {
  if (report.nodes == 0) return {};
  const std::size_t odd = odd_nodes(report).size();
  if (!report.by_majority) {
    std::size_t others = 0;
    for (const ComparedHosts& pair : report.pairs) {
      if (!DiffReport{{pair}}.has_fault() && has_code(pair.findings, kOtherMachine))
        others += pair.hosts.size();
    }
    if (odd == 0) return fmt::format("{} machines, none with a fault", report.nodes);
    return fmt::format("{} machines: {} without a fault, {} with{}", report.nodes, report.nodes - odd,
                       odd - others, others == 0 ? "" : fmt::format(", {} of another kind", others));
  }
  if (odd == 0) return fmt::format("{} machines, all identical", report.nodes);
  return fmt::format("{} machines: {} identical, {} different", report.nodes, report.nodes - odd, odd);
}

}  // namespace collbench::analysis
