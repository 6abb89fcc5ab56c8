#pragma once
#include <cstddef>

#include "collectives/nccl/loader/cuda_library.hpp"
#include "collectives/nccl/loader/nccl_library.hpp"

// ncclGather and ncclScatter of the stand-in libnccl, for the versions that have them (nccl_versioned.cpp).

namespace collbench::collectives {

[[nodiscard]] NcclResult stand_in_gather(const void* send, void* receive, std::size_t count, NcclType type,
                                         int root, NcclHandle communicator, CudaStreamHandle stream);
[[nodiscard]] NcclResult stand_in_scatter(const void* send, void* receive, std::size_t count, NcclType type,
                                          int root, NcclHandle communicator, CudaStreamHandle stream);

}  // namespace collbench::collectives
