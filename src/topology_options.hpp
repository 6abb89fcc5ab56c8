#pragma once
#include <CLI/CLI.hpp>

#include "src/topology_command.hpp"

namespace collbench {

/// Adds `topo` and what stands below it; parsing fills `options`, which must outlive `app`.
void add_topology_command(CLI::App& app, TopologyOptions& options);

}  // namespace collbench
