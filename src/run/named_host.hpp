#pragma once
#include <string>

#include "topology/graph/topology.hpp"

namespace collbench::program {

/// One node of what --topology names: a reference machine, or else a file that describes one (of several
/// hosts the first). Throws Error (usage) for a word that is neither, and for a file that cannot be read as
/// one.
[[nodiscard]] topology::Host named_host(const std::string& topology);

}  // namespace collbench::program
