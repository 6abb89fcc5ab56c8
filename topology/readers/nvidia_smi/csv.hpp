#pragma once
#include <string_view>

#include "topology/graph/topology.hpp"

namespace collbench::topology {

/// `nvidia-smi --query-gpu=FIELDS --format=csv` (or csv,nounits): whatever of its fields is known here, found
/// by the header line, so that line is needed. `file` stands in errors. Throws Error (usage) with FILE:LINE.
[[nodiscard]] Host read_nvidia_smi_csv(std::string_view text, std::string_view file);

/// Whether the line is the header of such a table.
[[nodiscard]] bool is_nvidia_smi_csv_header(std::string_view line);

}  // namespace collbench::topology
