#pragma once
#include "src/cli/output.hpp"
#include "src/commands/topology.hpp"

namespace collbench::program {

/// `collbench topo diff`: what the command prints, and status low where a finding is degraded or broken.
/// Throws Error (usage) for an argument that cannot be read.
[[nodiscard]] Answer topology_diff(const TopologyOptions& options);

}  // namespace collbench::program
