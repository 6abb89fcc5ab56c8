#pragma once
#include <string_view>

#include "topology/topology.hpp"

namespace collbench {

/// `nvidia-smi topo -p2p r` (or w, n, a, p): what each pair of GPUs can do, in the tool's words: OK, CNS
/// (chipset not supported), GNS (GPU not supported), TNS (topology not supported), NS, DR (disabled), U.
/// `file` stands in errors. Throws Error (usage) with FILE:LINE for anything but a whole, undamaged table.
[[nodiscard]] Host read_nvidia_smi_p2p(std::string_view text, std::string_view file);

}  // namespace collbench
