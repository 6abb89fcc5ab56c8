#pragma once
#include <string_view>

#include "topology/graph/topology.hpp"

namespace collbench::topology {

/// `nvidia-smi nvlink -s`: per GPU its UUID, model, and the number, state and rate of its NVLinks. A sentence
/// in their place ("all links are inactive", MIG mode, no NVLink) is kept in nvlink_state.
/// `file` stands in errors. Throws Error (usage) with FILE:LINE for anything but such a listing.
[[nodiscard]] Host read_nvidia_smi_nvlink(std::string_view text, std::string_view file);

}  // namespace collbench::topology
