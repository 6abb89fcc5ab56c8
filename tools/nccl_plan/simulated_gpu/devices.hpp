#pragma once
#include <array>

#include "tools/nccl_plan/simulated_gpu/machine.hpp"

// What CUDA's runtime and its driver both say of a GPU.

namespace collbench::simulated_gpu {

/// The device that the calling thread has chosen (cudaSetDevice, cuCtxSetCurrent); 0 at first.
[[nodiscard]] int& current_device();

/// The value of a CudaDeviceAttribute; 0 for one that is not simulated.
[[nodiscard]] int attribute_value(const SimulatedGpu& gpu, int attribute);

/// Unique among the GPUs of all simulated hosts.
[[nodiscard]] std::array<unsigned char, 16> uuid_of(const SimulatedGpu& gpu, int host);

/// "NVIDIA H100 (simulated)", by compute capability.
[[nodiscard]] const char* name_of(const SimulatedGpu& gpu);

/// The CUDA driver's function `name` (cuMemCreate, …), as NCCL asks the runtime for it. One that is not
/// simulated says so when it is called (redirection.hpp): a driver would have it.
[[nodiscard]] void* driver_function(const char* name);

}  // namespace collbench::simulated_gpu
