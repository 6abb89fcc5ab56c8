#pragma once
#include "topology/graph/topology.hpp"

namespace collbench::topology {

/// Whether a source of the host lists all devices of the kind, so that one that is not there is missing:
/// nvidia-smi nvlink -s knows nothing of NICs, ibstat nothing of GPUs, and NCCL's graphs hold only the NICs
/// that they go by. A source that is not known here does.
[[nodiscard]] bool source_coverage(const Host& host, DeviceKind kind);

}  // namespace collbench::topology
