#pragma once
#include <string>
#include <vector>

#include "base/record/cluster.hpp"
#include "topology/cluster.hpp"

namespace collbench {

/// Three lines for the head of a report: how many nodes there are and what most of them are, which reference
/// machine is nearest, and which nodes are odd (not said of a single node; analysis/cluster_findings.hpp says
/// in what). As short for a thousand nodes as for two.
[[nodiscard]] std::vector<std::string> cluster_summary(const ClusterTopology& cluster);

}  // namespace collbench
