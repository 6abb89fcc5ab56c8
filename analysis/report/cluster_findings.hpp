#pragma once
#include <optional>
#include <string>
#include <vector>

#include "analysis/report/diff_report.hpp"
#include "topology/cluster/cluster_topology.hpp"

namespace collbench::analysis {

/// The machines of a run by kind, the usual one first, each under its own names.
[[nodiscard]] std::vector<topology::HostGroup> cluster_groups(const topology::ClusterTopology& cluster);

/// What differs between the nodes and, where it is given, from `expected`.
[[nodiscard]] DiffReport cluster_findings(const topology::ClusterTopology& cluster,
                                          const std::optional<topology::HostGroup>& expected,
                                          bool expected_is_reference);

/// Lines for the head of a report: which nodes, what is wrong with them, and what it costs on as many nodes
/// as the run has. The worst findings of each kind of node; the rest is counted.
[[nodiscard]] std::vector<std::string> cluster_finding_lines(const DiffReport& report, int nodes);

/// The findings that the operation of a slow run on `found` meets, as a sentence for its explanation: those
/// that cost something on `nodes` nodes, and what is broken. Empty without any.
[[nodiscard]] std::string findings_on_the_path(const std::vector<topology::HostGroup>& found, int nodes,
                                               const topology::HostGroup& expected,
                                               bool expected_is_reference);

}  // namespace collbench::analysis
