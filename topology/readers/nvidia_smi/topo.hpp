#pragma once
#include <string_view>

#include "topology/graph/topology.hpp"

namespace collbench::topology {

/// `nvidia-smi topo -m`: GPUs with their affinity, NICs by label and name, and the path type of every pair.
/// `file` stands in errors. Throws Error (usage) with FILE:LINE for anything but a whole, undamaged table.
[[nodiscard]] Host read_nvidia_smi_topo(std::string_view text, std::string_view file);

}  // namespace collbench::topology
