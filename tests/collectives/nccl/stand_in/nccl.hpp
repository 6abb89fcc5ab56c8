#pragma once
#include <cstddef>

#include "collectives/nccl/loader/cuda_library.hpp"
#include "collectives/nccl/loader/nccl_library.hpp"

// What the parts of the stand-in libnccl have of each other: nccl.cpp, gather_scatter.cpp, and
// nccl_versioned.cpp, of which each version has its own.

namespace collbench::collectives {

// NOLINTBEGIN(readability-identifier-naming): the names are the library's.
extern "C" {
NcclResult ncclGroupStart();
NcclResult ncclGroupEnd();
NcclResult ncclSend(const void* data, std::size_t count, NcclType type, int peer, NcclHandle communicator,
                    CudaStreamHandle stream);
NcclResult ncclRecv(void* data, std::size_t count, NcclType type, int peer, NcclHandle communicator,
                    CudaStreamHandle stream);
}
// NOLINTEND(readability-identifier-naming)

[[nodiscard]] NcclResult stand_in_all_to_all(const void* send, void* receive, std::size_t count,
                                             NcclType type, NcclHandle communicator, CudaStreamHandle stream);
[[nodiscard]] NcclResult stand_in_async_error(NcclHandle communicator, NcclResult* state);

/// As CUDACHECK says it (src/include/checks.h).
[[nodiscard]] NcclResult stand_in_cuda_failure(int error);

/// As ncclGetVersion tells.
[[nodiscard]] int stand_in_version();

}  // namespace collbench::collectives
