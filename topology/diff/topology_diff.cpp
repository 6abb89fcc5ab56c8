#include "topology/diff/topology_diff.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "topology/catalogue/finding_kinds.hpp"
#include "topology/diff/parts.hpp"

namespace collbench::topology {
namespace {

/// Versions by reader; several sources of one reader may have several.
std::map<std::string, std::set<std::string>> versions_of(const Host& host) {
  std::map<std::string, std::set<std::string>> versions;
  for (const Source& source : host.sources) {
    if (!source.version.empty()) versions[source.reader].insert(source.version);
  }
  return versions;
}

std::vector<std::string> differing_versions(const Host& a, const Host& b) {
  std::vector<std::string> lines;
  const auto in_b = versions_of(b);
  for (const auto& [reader, versions] : versions_of(a)) {
    const auto found = in_b.find(reader);
    if (found == in_b.end() || found->second == versions) continue;
    lines.push_back(fmt::format("{}: {} against {}", reader, join_words({versions.begin(), versions.end()}),
                                join_words({found->second.begin(), found->second.end()})));
  }
  return lines;
}

}  // namespace

HostPair pair_hosts(const Host& a, const Host& b, bool a_is_reference) {
  return {a, b, match_devices(a, b), a_is_reference};
}

TopologyDiff diff_hosts(const HostPair& pair) {
  FindingList findings(pair);
  for (const auto part : {diff_devices, diff_host_facts, diff_numa_nodes, diff_gpus, diff_nvlinks, diff_nics,
                          diff_pcie, diff_paths, diff_graphs}) {
    part(pair, findings);
  }
  return {findings.take(), differing_versions(pair.a, pair.b)};
}

bool has_fault(const std::vector<Finding>& findings) {
  return std::any_of(findings.begin(), findings.end(), [](const Finding& finding) {
    return finding_kind(finding.code).severity <= Severity::degraded;
  });
}

}  // namespace collbench::topology
