#pragma once
#include <string_view>

#include "topology/topology.hpp"

namespace collbench {

/// NCCL's topology XML: a dump (NCCL_TOPO_DUMP_FILE) or a provider's file (NCCL_TOPO_FILE). What it does not
/// know is counted in the notes. `file` stands in errors. Throws Error (usage) with FILE:LINE.
[[nodiscard]] Host read_nccl_topology_xml(std::string_view text, std::string_view file);

}  // namespace collbench
