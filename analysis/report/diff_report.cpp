#include "analysis/report/diff_report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "analysis/report/text_layout.hpp"
#include "base/error.hpp"
#include "base/units.hpp"
#include "topology/catalogue/finding_kinds.hpp"

namespace collbench::analysis {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kWidth = 110;
constexpr std::size_t kMaxNames = 6;

std::string some_of(const std::vector<std::string>& names) {
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

std::string counts(const std::vector<PricedFinding>& findings) {
  std::array<int, 4> number{};
  for (const PricedFinding& each : findings)
    ++number.at(static_cast<std::size_t>(topology::finding_kind(each.finding.code).severity));
  std::vector<std::string> words;
  for (const topology::Severity severity : {topology::Severity::broken, topology::Severity::degraded,
                                            topology::Severity::differs, topology::Severity::cosmetic}) {
    const int count = number.at(static_cast<std::size_t>(severity));
    if (count > 0) words.push_back(fmt::format("{} {}", count, topology::severity_name(severity)));
  }
  return words.empty() ? "no difference" : topology::join_words(words);
}

std::string title(const ComparedHosts& pair) {
  return fmt::format("{} against {}", some_of(pair.b), some_of(pair.a));
}

std::string head(const DiffReport& report) {
  if (report.nodes == 0) return {};
  std::size_t odd = 0;
  for (const ComparedHosts& pair : report.pairs) odd += pair.b.size();
  if (odd == 0) return fmt::format("{} machines, all alike", report.nodes);
  return fmt::format("{} machines: {} alike, {} otherwise", report.nodes, report.nodes - odd, odd);
}

std::string as_text(const DiffReport& report) {
  std::string text = head(report);
  if (!text.empty()) text += "\n";
  for (const ComparedHosts& pair : report.pairs) {
    if (!text.empty()) text += "\n";
    text += wrap(title(pair), kWidth, "", "  ") + counts(pair.findings) + "\n";
    for (const PricedFinding& each : pair.findings) {
      const topology::FindingKind& kind = topology::finding_kind(each.finding.code);
      text += fmt::format("\n{} {}  {}\n", pad_right(topology::severity_name(kind.severity), 9), kind.code,
                          shorten(one_line(each.host), 60));
      text +=
          wrap(one_line(each.finding.device + ": " + each.finding.what), kWidth, "          ", "          ");
      text += wrap(kind.reason, kWidth, "          ", "          ");
      if (const std::string cost = format_cost(each.costs); !cost.empty())
        text += wrap(cost, kWidth, "          ", "            ");
      text += fmt::format("          confirm: {}\n", kind.confirm);
    }
    for (const std::string& version : pair.versions)
      text += wrap("version of " + one_line(version), kWidth, "\n", "  ");
  }
  return text;
}

std::string as_markdown(const DiffReport& report) {
  std::string text = "# Topology diff\n";
  if (const std::string first = head(report); !first.empty()) text += "\n" + first + "\n";
  for (const ComparedHosts& pair : report.pairs) {
    text += "\n## " + markdown_text(title(pair)) + "\n\n" + counts(pair.findings) + "\n";
    if (!pair.findings.empty()) {
      text += "\n| severity | code | host | device | what | cost | confirm |\n|-|-|-|-|-|-|-|\n";
    }
    for (const PricedFinding& each : pair.findings) {
      const topology::FindingKind& kind = topology::finding_kind(each.finding.code);
      text += fmt::format("| {} | {} | {} | {} | {} | {} | `{}` |\n", topology::severity_name(kind.severity),
                          kind.code, markdown_text(each.host), markdown_text(each.finding.device),
                          markdown_text(each.finding.what), format_cost(each.costs), kind.confirm);
    }
    for (const std::string& version : pair.versions) text += "\nVersion of " + markdown_text(version) + "\n";
  }
  return text;
}

void add_rate(Json& json, const char* algorithm, std::optional<double> healthy,
              std::optional<double> faulty) {
  if (!healthy) return;
  json[algorithm] = {{"healthy_gb_per_s", *healthy}};
  if (!faulty) return;
  json[algorithm]["faulty_gb_per_s"] = *faulty;
  json[algorithm]["lost_gb_per_s"] = *healthy - *faulty;
  json[algorithm]["lost_percent"] = 100 * (*healthy - *faulty) / *healthy;
}

Json cost_json(const FindingCost& cost) {
  Json json{{"operation", "all_reduce"}, {"nodes", cost.nodes}};
  add_rate(json, "ring", cost.healthy.ring, cost.faulty.ring);
  add_rate(json, "tree", cost.healthy.tree, cost.faulty.tree);
  add_rate(json, "best", cost.healthy.best, cost.faulty.best);
  return json;
}

Json finding_json(const PricedFinding& each) {
  const topology::FindingKind& kind = topology::finding_kind(each.finding.code);
  Json json{{"code", kind.code},         {"severity", topology::severity_name(kind.severity)},
            {"host", each.host},         {"device", each.finding.device},
            {"what", each.finding.what}, {"reason", kind.reason},
            {"confirm", kind.confirm},   {"costs", Json::array()}};
  for (const FindingCost& cost : each.costs) json["costs"].push_back(cost_json(cost));
  return json;
}

std::string as_json(const DiffReport& report) {
  Json json{{"collbench_topology_diff", 1}, {"fault", report.has_fault()}, {"pairs", Json::array()}};
  if (report.nodes > 0) json["machines"] = report.nodes;
  for (const ComparedHosts& pair : report.pairs) {
    Json findings = Json::array();
    for (const PricedFinding& each : pair.findings) findings.push_back(finding_json(each));
    json["pairs"].push_back(
        {{"a", pair.a}, {"b", pair.b}, {"findings", findings}, {"versions", pair.versions}});
  }
  // A host's name may hold any bytes.
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
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
    const std::string host = some_of(finding.side == topology::Side::a ? a.names : b.names);
    std::vector<FindingCost> costs = finding_costs(pair, finding);
    compared.findings.push_back({std::move(finding), host, std::move(costs)});
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
  for (const FindingCost& cost : costs) {
    if (!cost.changes()) continue;
    std::vector<std::string> rates{rate_change("ring", cost.healthy.ring, cost.faulty.ring),
                                   rate_change("tree", cost.healthy.tree, cost.faulty.tree),
                                   rate_change("best", cost.healthy.best, cost.faulty.best)};
    std::erase(rates, "");
    if (rates.empty()) continue;
    parts.push_back(
        fmt::format("on {} node{}: {}", cost.nodes, cost.nodes == 1 ? "" : "s", topology::join_words(rates)));
  }
  if (parts.empty()) return {};
  return fmt::format("costs AllReduce {}", fmt::join(parts, "; "));
}

std::string render_diff(const DiffReport& report, std::string_view format) {
  if (format == "text") return as_text(report);
  if (format == "md") return as_markdown(report);
  if (format == "json") return as_json(report);
  throw usage_error("--format", fmt::format("'{}' is unknown", format), "choose text, md or json");
}

}  // namespace collbench::analysis
