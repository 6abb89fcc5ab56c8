#pragma once
#include <string>

#include "topology/topology.hpp"

namespace collbench {

/// What the host is in one line: "8 × NVIDIA H100 80GB HBM3, 18 NVLinks each through 4 NVSwitches, 8 NICs".
[[nodiscard]] std::string summarize_host(const Host& host);

}  // namespace collbench
