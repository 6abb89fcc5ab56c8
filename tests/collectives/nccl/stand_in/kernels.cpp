// The kernel library without a GPU: the functions of kernel_interface.hpp on the stand-in runtime's streams.
// Data are made and checked by DataPattern's own formulas, as in kernels.cu. COLLBENCH_STAND_IN=kernel:N:
// they return the error N, as where they hold no code for the GPU; kernel_device:N: so does the choice of the
// GPU.
#include <cstdio>
#include <memory>

#include "base/record/data_type.hpp"
#include "collectives/data/element_formula.hpp"
#include "collectives/nccl/loader/cuda_library.hpp"
#include "collectives/nccl/loader/kernel_interface.hpp"
#include "collectives/nccl/on_host/kernels.hpp"
#include "tests/collectives/nccl/stand_in/injected_fault.hpp"

using namespace collbench;
using namespace collbench::collectives;

extern "C" {
// NOLINTBEGIN(readability-identifier-naming): the names are the library's.
CudaResult cudaLaunchHostFunc(CudaStreamHandle stream, void (*function)(void*), void* data);
CudaResult cudaSetDevice(int device);
// NOLINTEND(readability-identifier-naming)
bool collbench_stand_in_is_device_memory(const void* address, std::size_t bytes);
bool collbench_stand_in_is_in_flight(const void* address, std::size_t bytes);
}

namespace {

constexpr int kInvalidValue = 1;

void do_work(void* data) {
  const std::unique_ptr<HostKernel> work(static_cast<HostKernel*>(data));
  run_on_host(*work);
}

int put(const HostKernel& work, CudaStreamObject* stream) {
  if (const auto error = injected_fault("kernel")) return *error;
  const std::size_t bytes = work.elements.length * traits(static_cast<DataType>(work.elements.type)).bytes;
  const void* const table = work.elements.table;
  if (!collbench_stand_in_is_device_memory(work.memory, bytes)) return kInvalidValue;
  if (table != nullptr && !collbench_stand_in_is_device_memory(table, kPatternColumns * kPatternCellBytes)) {
    return kInvalidValue;
  }
  if (table != nullptr && collbench_stand_in_is_in_flight(table, kPatternColumns * kPatternCellBytes)) {
    std::fputs("stand-in: a kernel reads a table that a copy may still write\n", stderr);
    return kInvalidValue;
  }
  return static_cast<int>(cudaLaunchHostFunc(stream, do_work, new HostKernel(work)));
}

}  // namespace

extern "C" {

int collbench_kernel_interface() { return kKernelInterface; }

int collbench_kernel_set_device(int device) {
  return injected_fault("kernel_device").value_or(static_cast<int>(cudaSetDevice(device)));
}

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

}  // extern "C"
