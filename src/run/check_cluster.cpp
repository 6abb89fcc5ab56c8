#include "src/run/check_cluster.hpp"

#include <optional>

#include "analysis/report/cluster_findings.hpp"
#include "topology/machines/resolve.hpp"

namespace collbench::program {

ClusterCheck check_cluster(launch::OnRoot /*root*/, const topology::ClusterTopology& cluster,
                           const std::string& expect) {
  const int nodes = static_cast<int>(cluster.nodes.size());
  ClusterCheck check;
  check.lines =
      analysis::cluster_finding_lines(analysis::cluster_findings(cluster, std::nullopt, false), nodes);
  if (expect.empty()) return check;
  const topology::ResolvedMachine machine = topology::resolve_machine(expect);
  const topology::HostGroup expected{machine.only_host(), {expect}};
  const analysis::DiffReport against =
      analysis::cluster_findings(cluster, expected, machine.reference != nullptr);
  const auto lines = analysis::cluster_finding_lines(against, nodes);
  check.lines.insert(check.lines.end(), lines.begin(), lines.end());
  if (against.pairs.empty()) check.lines.push_back("every node is as expected: " + expect);
  check.has_fault = against.has_fault();
  return check;
}

}  // namespace collbench::program
