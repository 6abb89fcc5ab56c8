// The kernel library (COLLBENCH_KERNELS) of simulated GPUs: real kernels are for a real driver. What they do
// to data the CPU does, on the simulated stream.
#include <cstddef>
#include <functional>

#include "base/record/data_type.hpp"
#include "collectives/data/element_formula.hpp"
#include "collectives/nccl/on_host/kernels.hpp"
#include "tools/nccl_plan/simulated_gpu/cuda_types.hpp"

using namespace collbench;
using namespace collbench::collectives;

extern "C" {
// Of libcollbench_simulated_gpu.so.
// NOLINTBEGIN(readability-identifier-naming): the names are CUDA's.
int cudaPointerGetAttributes(simulated_gpu::CudaPointerAttributes* attributes, const void* address);
int cudaSetDevice(int device);
// NOLINTEND(readability-identifier-naming)
void collbench_simulated_gpu_put(void* stream, const std::function<void()>& task);
}

namespace {

bool is_device_memory(const void* address, std::size_t bytes) {
  if (bytes == 0) return true;
  for (const std::size_t offset : {std::size_t{0}, bytes - 1}) {
    simulated_gpu::CudaPointerAttributes pointer{};
    const int status = cudaPointerGetAttributes(&pointer, static_cast<const std::byte*>(address) + offset);
    if (status != simulated_gpu::kSuccess || pointer.type != simulated_gpu::kDevice) return false;
  }
  return true;
}

int put(const HostKernel& kernel, CudaStreamObject* stream) {
  const KernelElements& e = kernel.elements;
  const bool reaches =
      is_device_memory(kernel.memory, e.length * traits(static_cast<DataType>(e.type)).bytes) &&
      (e.table == nullptr || is_device_memory(e.table, kPatternColumns * kPatternCellBytes));
  if (!reaches) return simulated_gpu::kInvalidValue;
  collbench_simulated_gpu_put(stream, [kernel] { run_on_host(kernel); });
  return simulated_gpu::kSuccess;
}

}  // namespace

extern "C" {

int collbench_kernel_interface() { return kKernelInterface; }

int collbench_kernel_set_device(int device) { return cudaSetDevice(device); }

int collbench_kernel_fill(const KernelElements* elements, void* to, CudaStreamObject* stream) {
  return put({.elements = *elements, .memory = to}, stream);
}

int collbench_kernel_check(const KernelElements* elements, const void* received, std::uint64_t first_index,
                           std::uint32_t tolerance, KernelMismatch* found, CudaStreamObject* stream) {
  return put({.elements = *elements,
              .memory = const_cast<void*>(received),
              .first_index = first_index,
              .tolerance = tolerance,
              .found = found},
             stream);
}

// A simulated GPU has no rates to probe.

int collbench_kernel_fill_normal(void* /*to*/, std::uint64_t /*count*/, std::uint32_t /*type*/,
                                 std::uint64_t /*seed*/, CudaStreamObject* /*stream*/) {
  return simulated_gpu::kNotSupported;
}

int collbench_kernel_triad(double* /*a*/, const double* /*b*/, const double* /*c*/, double /*factor*/,
                           std::uint64_t /*count*/, CudaStreamObject* /*stream*/) {
  return simulated_gpu::kNotSupported;
}

}  // extern "C"
