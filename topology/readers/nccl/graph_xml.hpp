#pragma once
#include <string_view>

#include "topology/graph/topology.hpp"

namespace collbench::topology {

/// NCCL's graph XML: a dump (NCCL_GRAPH_DUMP_FILE) or what it is told to use (NCCL_GRAPH_FILE). It names GPUs
/// by nvidia-smi's index and NICs by NCCL's own number, so it tells more beside the topology XML of the same
/// machine. `file` stands in errors. Throws Error (usage) with FILE:LINE; so too for the graph of an NVLink
/// domain of several hosts.
[[nodiscard]] Host read_nccl_graph_xml(std::string_view text, std::string_view file);

}  // namespace collbench::topology
