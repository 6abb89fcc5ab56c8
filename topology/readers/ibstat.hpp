#pragma once
#include <string_view>

#include "topology/graph/topology.hpp"

namespace collbench::topology {

/// The output of `ibstat`: RDMA devices, their firmware and GUIDs, and what their ports are up to. `file`
/// stands in errors. Throws Error (usage) for what is no such output, with the line where it is damaged.
[[nodiscard]] Host read_ibstat(std::string_view text, std::string_view file);

/// Whether the text holds such an output, at least in part.
[[nodiscard]] bool has_ibstat(std::string_view text);

}  // namespace collbench::topology
