#pragma once
#include <string_view>

#include "topology/graph/topology.hpp"

namespace collbench::topology {

/// The output of `lspci -vvv` (as root, with or without -nn and -D): the PCI tree by the bridges' bus
/// numbers, the links as they could be and as they are, ACS, NUMA nodes. `file` stands in errors. Throws
/// Error (usage) for what is no such output, with the line where it is damaged.
[[nodiscard]] Host read_lspci(std::string_view text, std::string_view file);

/// Whether the text holds such an output, at least in part.
[[nodiscard]] bool has_lspci(std::string_view text);

}  // namespace collbench::topology
