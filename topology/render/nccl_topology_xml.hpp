#pragma once
#include <string>

#include "topology/graph/topology.hpp"

namespace collbench::topology {

/// The graph as NCCL_TOPO_FILE takes it; reading it again gives the same graph, as far as the format holds
/// it.
[[nodiscard]] std::string write_nccl_topology_xml(const Host& host);

}  // namespace collbench::topology
