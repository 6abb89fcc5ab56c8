// What nvcc's code calls of CUDA's runtime where a program has kernels of its own, as a libnccl has that
// takes the runtime from another library: crt/host_runtime.h of CUDA 11 to 13. Kernels are known by the
// address of the function that stands for them, and are not run.
#include <array>
#include <cstddef>

#include "tools/nccl_plan/simulated_gpu/cuda_types.hpp"

namespace collbench::simulated_gpu {
namespace {

/// What a module's registrations are told apart by: nobody looks.
void** any_module() {
  static std::array<void*, 1> module{};
  return module.data();
}

}  // namespace

// NOLINTBEGIN(readability-identifier-naming,bugprone-reserved-identifier): the names are CUDA's.
extern "C" {

void** __cudaRegisterFatBinary(const void* /*code*/) { return any_module(); }
void __cudaRegisterFatBinaryEnd(void** /*module*/) {}
void __cudaUnregisterFatBinary(void** /*module*/) {}
char __cudaInitModule(void** /*module*/) { return 1; }

void __cudaRegisterFunction(void** /*module*/, const void* /*function*/, char* /*device_function*/,
                            const char* /*name*/, int /*threads*/, void* /*thread*/, void* /*block*/,
                            void* /*block_size*/, void* /*grid_size*/, int* /*warp_size*/) {}
void __cudaRegisterVar(void** /*module*/, void* /*variable*/, char* /*device_address*/, const char* /*name*/,
                       int /*external*/, std::size_t /*bytes*/, int /*constant*/, int /*global*/) {}

struct Dimensions;  // dim3

unsigned __cudaPushCallConfiguration() { return kSuccess; }
/// Anything but success ends the call before the kernel's launch.
int __cudaPopCallConfiguration(Dimensions* /*grid*/, Dimensions* /*block*/, std::size_t* /*shared_bytes*/,
                               void* /*stream*/) {
  return kNotReady;
}
int __cudaGetKernel(const void** kernel, const void* function) {
  *kernel = function;
  return kSuccess;
}
int __cudaLaunchKernel() { return kSuccess; }

}  // extern "C"
// NOLINTEND(readability-identifier-naming,bugprone-reserved-identifier)

}  // namespace collbench::simulated_gpu
