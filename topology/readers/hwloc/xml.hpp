#pragma once
#include <string_view>

#include "topology/graph/topology.hpp"

namespace collbench::topology {

/// hwloc's XML, 1.x to 3.x, by our own reader: libhwloc 2.9 refuses the files of version 3. Takes NUMA nodes,
/// bridges, GPUs, NICs and the NVLink matrix; caches, disks and groups are passed over. `file` stands in
/// errors. Throws Error (usage) with FILE:LINE.
[[nodiscard]] Host read_hwloc_xml(std::string_view text, std::string_view file);

}  // namespace collbench::topology
