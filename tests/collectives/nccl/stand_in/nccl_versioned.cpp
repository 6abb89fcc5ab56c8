// What tells one version of the stand-in libnccl from another: STAND_IN_VERSION, and the functions that it
// lacks by it (what registers buffers, before 2.19 and 2.27) or when STAND_IN_LACKS_ALL_TO_ALL (ncclAlltoAll,
// ncclGather and ncclScatter, as before 2.28.3) or STAND_IN_LACKS_ASYNC_ERROR is defined. That of the version
// in COLLBENCH_STAND_IN_TOO_NEW is for a newer CUDA than the driver's, which shows where its runtime is used
// first.
#include <cstddef>

#include "collectives/nccl/loader/cuda_library.hpp"
#include "collectives/nccl/loader/nccl_library.hpp"
#include "tests/collectives/nccl/stand_in/gather_scatter.hpp"
#include "tests/collectives/nccl/stand_in/injected_fault.hpp"
#include "tests/collectives/nccl/stand_in/nccl.hpp"
#include "tests/collectives/nccl/stand_in/registration.hpp"

using namespace collbench;
using namespace collbench::collectives;

int collbench::collectives::stand_in_version() { return STAND_IN_VERSION; }

// NOLINTBEGIN(readability-identifier-naming): the names are the library's.
extern "C" {

#if STAND_IN_VERSION >= 21900
CudaResult cudaMalloc(void** address, std::size_t bytes);

NcclResult ncclMemAlloc(void** memory, std::size_t bytes) {
  if (stand_in_number("COLLBENCH_STAND_IN_TOO_NEW", 0) == STAND_IN_VERSION)
    return stand_in_cuda_failure(static_cast<int>(CudaResult::insufficient_driver));
  return cudaMalloc(memory, bytes) == CudaResult::success ? NcclResult::success
                                                          : NcclResult::unhandled_cuda_error;
}

NcclResult ncclMemFree(void* memory) { return stand_in_memory_free(memory); }

NcclResult ncclCommRegister(NcclHandle communicator, void* buffer, std::size_t bytes, void** registration) {
  return stand_in_register(communicator, buffer, bytes, registration);
}

NcclResult ncclCommDeregister(NcclHandle communicator, void* registration) {
  return stand_in_deregister(communicator, registration);
}
#endif

#if STAND_IN_VERSION >= 22700
NcclResult ncclCommWindowRegister(NcclHandle communicator, void* buffer, std::size_t bytes,
                                  NcclWindowHandle* window, int flags) {
  if (flags != kNcclSymmetricWindow) return NcclResult::invalid_argument;
  void* registration = nullptr;
  const NcclResult result = stand_in_register(communicator, buffer, bytes, &registration);
  *window = static_cast<NcclWindowHandle>(registration);
  return result;
}

NcclResult ncclCommWindowDeregister(NcclHandle communicator, NcclWindowHandle window) {
  return stand_in_deregister(communicator, window);
}
#endif

NcclResult ncclGetVersion(int* version) {
  *version = STAND_IN_VERSION;
  return NcclResult::success;
}

#ifndef STAND_IN_LACKS_ALL_TO_ALL
NcclResult ncclAlltoAll(const void* send, void* receive, std::size_t count, NcclType type,
                        NcclHandle communicator, CudaStreamHandle stream) {
  return stand_in_all_to_all(send, receive, count, type, communicator, stream);
}

NcclResult ncclGather(const void* send, void* receive, std::size_t count, NcclType type, int root,
                      NcclHandle communicator, CudaStreamHandle stream) {
  return stand_in_gather(send, receive, count, type, root, communicator, stream);
}

NcclResult ncclScatter(const void* send, void* receive, std::size_t count, NcclType type, int root,
                       NcclHandle communicator, CudaStreamHandle stream) {
  return stand_in_scatter(send, receive, count, type, root, communicator, stream);
}
#endif

#ifndef STAND_IN_LACKS_ASYNC_ERROR
NcclResult ncclCommGetAsyncError(NcclHandle communicator, NcclResult* state) {
  return stand_in_async_error(communicator, state);
}
#endif

}  // extern "C"
// NOLINTEND(readability-identifier-naming)
