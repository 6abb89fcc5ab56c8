#pragma once

namespace collbench::simulated_gpu {

/// The CUDA driver's function `name` (cuMemCreate, …), as NCCL asks the runtime for it. One that is not
/// simulated says so when it is called (redirection.hpp): a driver would have it.
[[nodiscard]] void* driver_function(const char* name);

}  // namespace collbench::simulated_gpu
