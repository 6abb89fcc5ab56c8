#pragma once
#include <string_view>

#include "topology/graph/topology.hpp"

namespace collbench::topology {

/// Any file that describes a machine: saved by us, NCCL's XML (topology or graph) or hwloc's, or output of
/// nvidia-smi (topo -m, topo -p2p, nvlink -s, -q -x, --query-gpu csv), of lspci -vvv or of ibstat, recognised
/// by its content. A file of several commands' outputs is read as all of them, merged. `file` stands in
/// errors. Throws Error (usage) that says what the file seems to be when it is nothing of these.
[[nodiscard]] Topology read_any_topology(std::string_view text, std::string_view file);

}  // namespace collbench::topology
