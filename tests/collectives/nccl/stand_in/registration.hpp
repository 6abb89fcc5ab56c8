#pragma once
#include <cstddef>

#include "collectives/nccl/loader/nccl_library.hpp"

// What the stand-in libnccl knows of registered buffers, for the versions that have the calls
// (nccl_versioned.cpp). Only whose they are: nothing is faster by it.
//
// What it copies of NCCL (2.30.7, src/register/register.cc; User Guide, "User Buffer Registration"):
// - a buffer that is no device memory is refused;
// - with NCCL_LOCAL_REGISTER=0 the call succeeds and registers nothing;
// - a handle that is not registered with this communicator is invalid usage.
// What NCCL leaves to its user it says on stderr: memory that is freed, or a communicator that is destroyed,
// before the registration is gone, and a deregistration after ncclCommAbort.
// COLLBENCH_STAND_IN: register_nothing: the call succeeds and registers nothing; register_error:N: the N-th
// call fails (ncclUnhandledCudaError).

/// Of the stand-in CUDA: whether all these bytes are a GPU's memory.
extern "C" bool collbench_stand_in_is_device_memory(const void* address, std::size_t bytes);

namespace collbench::collectives {

[[nodiscard]] NcclResult stand_in_register(NcclHandle communicator, void* buffer, std::size_t bytes,
                                           void** registration);
[[nodiscard]] NcclResult stand_in_deregister(NcclHandle communicator, void* registration);
[[nodiscard]] NcclResult stand_in_memory_free(void* memory);

/// The communicator ends: is destroyed, or aborted.
void end_registrations(NcclHandle communicator, bool aborted);

}  // namespace collbench::collectives
