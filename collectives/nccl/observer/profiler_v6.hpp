#pragma once
#include "collectives/nccl/observer/profiler_v5.hpp"

namespace collbench {

/// NCCL's profiler interface, version 6 (NCCL 2.29): events of copy engines, which we do not ask for; what we
/// read of the others is as in version 5. Source: NVIDIA/nccl v2.29.2-1,
/// src/include/plugin/profiler/profiler_v6.h.
using ProfilerEventV6 = ProfilerEventV5;

/// ncclProfiler_v6_t
using ProfilerV6 = ProfilerV5;

}  // namespace collbench
