#include "analysis/report/diff_report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/units.hpp"
#include "topology/catalog/finding_kinds.hpp"
#include "topology/machines/reference_machines.hpp"

namespace collbench::analysis {
namespace {

constexpr std::size_t kMaxNames = 6;

std::vector<std::string> host_names(const topology::HostGroup& group) {
  return group.hosts.empty() ? group.names : group.hosts;
}

constexpr std::string_view kOtherMachine = "different-machine";
constexpr std::string_view kDisagreement = "sources-disagree";

bool has_code(const std::vector<PricedFinding>& findings, std::string_view code) {
  return std::ranges::any_of(findings,
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
  return std::ranges::any_of(
      pairs, [](const ComparedHosts& pair) { return has_code(pair.findings, kOtherMachine); });
}

bool DiffReport::has_disagreement() const {
  return std::ranges::any_of(
      pairs, [](const ComparedHosts& pair) { return has_code(pair.findings, kDisagreement); });
}

bool DiffReport::has_fault() const {
  return std::ranges::any_of(pairs, [](const ComparedHosts& pair) {
    return std::ranges::any_of(pair.findings, [](const PricedFinding& each) {
      return topology::finding_kind(each.finding.code).severity <= topology::Severity::degraded;
    });
  });
}

DiffReport compare_two(const topology::HostGroup& a, const topology::HostGroup& b) {
  return {.pairs = {compare_hosts(a, b, false)}, .usual = host_names(a)};
}

ComparedHosts compare_hosts(const topology::HostGroup& a, const topology::HostGroup& b, bool a_is_reference) {
  const topology::HostPair pair = topology::pair_hosts(a.first, b.first, a_is_reference);
  topology::TopologyDiff diff = topology::diff_hosts(pair);
  ComparedHosts compared{a.names, b.names, {}, std::move(diff.versions), host_names(b)};
  if (a_is_reference) compared.reference_note = reference_note(a);
  compared.drawn = std::make_shared<const topology::Host>(b.first);
  compared.not_compared = topology::not_compared(pair);
  for (topology::Finding& finding : diff.findings) {
    // The title names them all.
    const std::string host = finding.side == topology::Side::a ? topology::join_words(a.names, kMaxNames)
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
  report.usual = host_names(groups.front());
  for (const topology::HostGroup& group : groups) report.nodes += group.names.size();
  for (std::size_t i = 1; i < groups.size(); ++i) {
    ComparedHosts compared = compare_hosts(groups.front(), groups[i], false);
    if (compared.findings.empty()) {
      report.usual.insert(report.usual.end(), compared.hosts.begin(), compared.hosts.end());
    } else {
      report.pairs.push_back(std::move(compared));
    }
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

std::string price_words(const FindingPrice& price, bool all) {
  std::string cost = all ? all_costs(price.costs) : cost_sentence(price.costs);
  if (!cost.empty()) {
    if (price.reason.empty()) return cost;
    return fmt::format("{}; {}{}", cost, price.kind == PriceKind::at_least ? "at least: " : "", price.reason);
  }
  switch (price.kind) {
    case PriceKind::priced:
      return "none in the model: AllReduce of 8 GiB keeps its rate" +
             (price.reason.empty() ? std::string() : "; " + price.reason);
    case PriceKind::none:
      return "none: " + price.reason;
    case PriceKind::at_least:
    case PriceKind::not_modeled:
      break;
  }
  return "not modeled: " + price.reason;
}

std::string format_price(const FindingPrice& price, bool all) { return "cost: " + price_words(price, all); }

std::string diff_summary(const ComparedHosts& pair) {
  const std::vector<PricedFinding>& findings = pair.findings;
  const std::string not_compared =
      pair.not_compared.empty() ? "" : fmt::format("; not compared: {}", fmt::join(pair.not_compared, ", "));
  std::array<int, 4> number{};
  for (const PricedFinding& each : findings)
    ++number.at(static_cast<std::size_t>(topology::finding_kind(each.finding.code).severity));
  std::vector<std::string> parts;
  for (const topology::Severity severity : {topology::Severity::broken, topology::Severity::degraded,
                                            topology::Severity::differs, topology::Severity::cosmetic}) {
    const int count = number.at(static_cast<std::size_t>(severity));
    if (count == 0) continue;
    // "2 differs" is no English.
    parts.push_back(severity == topology::Severity::differs
                        ? counted(count, "difference")
                        : fmt::format("{} {}", count, topology::severity_name(severity)));
  }
  if (parts.empty()) {
    return "no difference" + (not_compared.empty() ? not_compared : " in what both state" + not_compared);
  }
  // Of different machines little is compared at all, which the finding says.
  if (has_code(findings, kOtherMachine)) return "a different machine, " + topology::join_words(parts);
  return topology::join_words(parts) + not_compared;
}

std::string diff_title(const ComparedHosts& pair) {
  const std::string note = pair.reference_note.empty() ? "" : fmt::format(" ({})", pair.reference_note);
  return fmt::format("{} against {}{}", topology::join_words(pair.b), topology::join_words(pair.a, kMaxNames),
                     note);
}

std::string diff_headline(const DiffReport& report) {
  if (report.nodes == 0) return {};
  const std::size_t odd = odd_nodes(report).size();
  if (!report.by_majority) {
    std::size_t others = 0;
    std::size_t unsure = 0;
    for (const ComparedHosts& pair : report.pairs) {
      if (DiffReport{{pair}}.has_fault()) continue;
      if (has_code(pair.findings, kOtherMachine)) {
        others += pair.hosts.size();
      } else if (has_code(pair.findings, kDisagreement)) {
        unsure += pair.hosts.size();
      }
    }
    if (odd == 0) return fmt::format("{} machines, none with a fault", report.nodes);
    return fmt::format("{} machines: {} without a fault, {} with{}{}", report.nodes, report.nodes - odd,
                       odd - others - unsure, others == 0 ? "" : fmt::format(", {} of another kind", others),
                       unsure == 0 ? "" : fmt::format(", {} whose files disagree", unsure));
  }
  if (report.nodes == 1) return "1 machine, and nothing to compare it with";
  if (report.pairs.empty())
    return not_looked_at(report).empty() ? fmt::format("{} machines, all identical", report.nodes)
                                         : fmt::format("the other {} machines are identical", report.nodes);
  if (!has_majority(report)) {
    return fmt::format("{} machines of {} kinds, none of them the majority: {} with a fault", report.nodes,
                       report.pairs.size() + 1, faulty_nodes(report).size());
  }
  return fmt::format("{} machines: {} identical, {} different", report.nodes, report.nodes - odd, odd);
}

std::vector<std::string> not_looked_at(const DiffReport& report) {
  const std::vector<std::string>& without = report.without_file;
  std::vector<std::string> lines{topology::unreadable_text(report.files)};
  if (!without.empty())
    lines.insert(lines.begin(), fmt::format("{} without a file: {}", counted(without.size(), "host"),
                                            fmt::join(without, ", ")));
  std::erase(lines, "");
  return lines;
}

std::vector<std::string> diff_headlines(const DiffReport& report) {
  std::vector<std::string> lines = not_looked_at(report);
  if (std::string headline = diff_headline(report); !headline.empty()) lines.push_back(std::move(headline));
  return lines;
}

}  // namespace collbench::analysis
