#pragma once
#include "src/answer.hpp"
#include "src/topology_command.hpp"
#include "topology/topology.hpp"

namespace collbench {

/// `collbench topo diff`: what the command prints, and status low where a finding is degraded or broken.
/// Throws Error (usage) for a place that cannot be read.
[[nodiscard]] Answer topology_diff(const TopologyOptions& options);

/// One machine of those that `diff` compares: a place, "live" or "-". Throws Error (usage) for several hosts.
[[nodiscard]] Host one_host(const std::string& place);

}  // namespace collbench
