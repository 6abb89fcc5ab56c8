#pragma once
#include <string_view>

#include "topology/graph/topology.hpp"

namespace collbench::topology {

/// `nvidia-smi -q -x` (the DTDs nvsmi_device_v10 to v13): GPUs with UUID, model, memory, MIG, fabric state,
/// and their PCIe links. `file` stands in errors. Throws Error (usage) with FILE:LINE.
[[nodiscard]] Host read_nvidia_smi_query(std::string_view text, std::string_view file);

}  // namespace collbench::topology
