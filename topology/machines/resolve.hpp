#pragma once
#include <string>

#include "topology/graph/topology.hpp"

namespace collbench::topology {

/// A machine by the place that a person gives: a file of any known format (read_any), a folder (a copy of
/// /sys, or files that describe one machine, which are merged), or the name of a reference machine. A file or
/// folder goes before a name. Throws Error (usage) for what is none of these, naming what may have been
/// meant.
[[nodiscard]] Topology resolve_machine(const std::string& place);

}  // namespace collbench::topology
