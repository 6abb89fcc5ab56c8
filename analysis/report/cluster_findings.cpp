#include "analysis/report/diff_report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "topology/catalog/finding_kinds.hpp"
#include "topology/cluster/cluster_topology.hpp"

namespace collbench::analysis {
namespace {

constexpr std::size_t kMaxFindings = 3;  // of one kind of node, in a line
constexpr std::size_t kMaxKinds = 3;
constexpr std::size_t kMaxNodes = 4;

/// Costs are worked out for one node and for two (or two racks): more of them lose as much.
std::vector<FindingCost> costs_on(const PricedFinding& priced, int nodes) {
  std::vector<FindingCost> costs = priced.price.costs;
  std::erase_if(costs, [nodes](const FindingCost& cost) { return (cost.nodes == 1) != (nodes == 1); });
  return costs;
}

bool any_changes(const std::vector<FindingCost>& costs) {
  return std::ranges::any_of(costs, &FindingCost::changes);
}

std::string format_finding(const PricedFinding& priced, int nodes) {
  std::string text = fmt::format(
      "{} {} {}: {}", topology::severity_name(topology::finding_kind(priced.finding.code).severity),
      priced.finding.code, priced.finding.device, priced.finding.what);
  FindingPrice price = priced.price;
  price.costs = costs_on(priced, nodes);
  text += ", " + format_price(price);
  if (!price.advice.empty() && any_changes(price.costs)) text += ", advice: " + price.advice;
  return text;
}

bool is_on_the_path(const PricedFinding& priced, int nodes) {
  return topology::finding_kind(priced.finding.code).severity == topology::Severity::broken ||
         any_changes(costs_on(priced, nodes));
}

/// Those in which anything differs.
std::vector<ComparedHosts> against(const std::vector<topology::HostGroup>& groups,
                                   const topology::HostGroup& expected, bool expected_is_reference) {
  std::vector<ComparedHosts> differ;
  for (const topology::HostGroup& group : groups) {
    ComparedHosts compared = compare_hosts(expected, group, expected_is_reference);
    if (!compared.findings.empty()) differ.push_back(std::move(compared));
  }
  return differ;
}

}  // namespace

std::vector<topology::HostGroup> cluster_groups(const topology::ClusterTopology& cluster) {
  topology::HostGroups groups;
  for (int node = 0; node < static_cast<int>(cluster.nodes.size()); ++node)
    groups.add(topology::node_host(cluster, node), cluster.nodes[static_cast<std::size_t>(node)].host);
  return groups.take();
}

DiffReport cluster_findings(const topology::ClusterTopology& cluster,
                            const std::optional<topology::HostGroup>& expected, bool expected_is_reference) {
  const std::vector<topology::HostGroup> groups = cluster_groups(cluster);
  if (!expected) return compare_groups(groups);
  DiffReport report;
  report.nodes = cluster.nodes.size();
  report.pairs = against(groups, *expected, expected_is_reference);
  return report;
}

std::vector<std::string> cluster_finding_lines(const DiffReport& report, int nodes) {
  std::vector<std::string> lines;
  for (const ComparedHosts& pair : report.pairs) {
    if (lines.size() == kMaxKinds) {
      lines.push_back(
          fmt::format("{} more kinds of node differ (collbench topo diff)", report.pairs.size() - kMaxKinds));
      break;
    }
    std::vector<std::string> parts;
    for (std::size_t i = 0; i < std::min(kMaxFindings, pair.findings.size()); ++i)
      parts.push_back(format_finding(pair.findings[i], nodes));
    if (pair.findings.size() > kMaxFindings)
      parts.push_back(fmt::format("{} more (collbench topo diff)", pair.findings.size() - kMaxFindings));
    lines.push_back(fmt::format("{} against {}: {}", topology::join_words(pair.b, kMaxNodes),
                                topology::join_words(pair.a, kMaxNodes), fmt::join(parts, "; ")));
  }
  return lines;
}

std::string findings_on_the_path(const std::vector<topology::HostGroup>& found, int nodes,
                                 const topology::HostGroup& expected, bool expected_is_reference) {
  std::vector<std::string> findings;
  for (const ComparedHosts& pair : against(found, expected, expected_is_reference)) {
    for (const PricedFinding& priced : pair.findings) {
      if (is_on_the_path(priced, nodes))
        findings.push_back(
            fmt::format("{}, {}", topology::join_words(pair.b, kMaxNodes), format_finding(priced, nodes)));
    }
  }
  if (findings.empty()) return {};
  return fmt::format("Findings on its path: {}.", fmt::join(findings, "; "));
}

}  // namespace collbench::analysis
