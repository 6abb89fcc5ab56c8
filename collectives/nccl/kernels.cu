// The kernel library (kernel_interface.hpp), for nvcc.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#include <cuda_runtime.h>

#include "base/record/data_type.hpp"
#include "collectives/data/element_formula.hpp"
#include "collectives/nccl/loader/kernel_interface.hpp"

using namespace collbench;
using namespace collbench::collectives;

namespace collbench::collectives {
// With a name: nvcc puts a hash of the folder into what is unnamed, and another folder's build would have
// other bytes.
namespace kernels {

// Enough threads to keep any GPU's memory busy; each goes through the buffer in steps of all of them.
constexpr unsigned kThreads = 256;
constexpr unsigned kMaxBlocks = 2048;

/// The bits of an integer in an element's type. The integer is exact in it, so every conversion is.
template <typename Bits, DataType type>
__device__ Bits bits_of(std::uint64_t value) {
  if constexpr (type == DataType::float16) return __half_as_ushort(__ull2half_rn(value));
  if constexpr (type == DataType::bfloat16)
    return __bfloat16_as_ushort(__float2bfloat16(static_cast<float>(value)));
  if constexpr (type == DataType::float8_e4m3 || type == DataType::float8_e5m2) {
    constexpr auto kKind = type == DataType::float8_e4m3 ? __NV_E4M3 : __NV_E5M2;
    return __nv_cvt_float_to_fp8(static_cast<float>(value), __NV_SATFINITE, kKind);
  }
  if constexpr (type == DataType::float32) return __float_as_uint(static_cast<float>(value));
  if constexpr (type == DataType::float64)
    return static_cast<Bits>(__double_as_longlong(static_cast<double>(value)));
  return static_cast<Bits>(value);
}

template <typename Bits, DataType type>
__device__ Bits element(const KernelElements& elements, std::uint64_t i) {
  const std::uint64_t index = elements.index + i;
  if (elements.table == nullptr) {
    return bits_of<Bits, type>(moved_value(elements.source, index, elements.iteration, elements.bits));
  }
  const char* const cell = static_cast<const char*>(elements.table) +
                           pattern_column(index, elements.iteration) * kPatternCellBytes;
  return *reinterpret_cast<const Bits*>(cell);
}

__device__ std::uint64_t first_of_thread() {
  return static_cast<std::uint64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}

__device__ std::uint64_t all_threads() { return static_cast<std::uint64_t>(gridDim.x) * blockDim.x; }

template <typename Bits, DataType type>
__global__ void fill(KernelElements elements, Bits* to) {
  for (std::uint64_t i = first_of_thread(); i < elements.length; i += all_threads()) {
    to[i] = element<Bits, type>(elements, i);
  }
}

template <typename Bits, DataType type>
__global__ void check(KernelElements elements, const Bits* received, std::uint64_t first_index,
                      std::uint32_t tolerance, KernelMismatch* found) {
  unsigned long long wrong = 0;
  unsigned long long first = ~0ULL;
  for (std::uint64_t i = first_of_thread(); i < elements.length; i += all_threads()) {
    const Bits expected = element<Bits, type>(elements, i);
    const Bits got = received[i];
    const Bits apart = got > expected ? static_cast<Bits>(got - expected) : static_cast<Bits>(expected - got);
    if (apart <= tolerance) continue;
    if (wrong++ == 0) first = first_index + i;
  }
  if (wrong == 0) return;  // nearly always: then no two threads meet
  atomicAdd(&found->count, wrong);
  atomicMin(&found->first_index, first);
}

/// Calls `launch` for the bits and the type of the elements.
template <typename Launch>
int with_type(const KernelElements& elements, const Launch& launch) {
  if (elements.length == 0) return cudaSuccess;
  const std::uint64_t wanted = (elements.length + kThreads - 1) / kThreads;
  const auto blocks = static_cast<unsigned>(wanted < kMaxBlocks ? wanted : kMaxBlocks);
  switch (static_cast<DataType>(elements.type)) {
    case DataType::int8:
    case DataType::uint8:
      launch.template operator()<std::uint8_t, DataType::uint8>(blocks);
      break;
    case DataType::int32:
    case DataType::uint32:
      launch.template operator()<std::uint32_t, DataType::uint32>(blocks);
      break;
    case DataType::int64:
    case DataType::uint64:
      launch.template operator()<std::uint64_t, DataType::uint64>(blocks);
      break;
    case DataType::float16:
      launch.template operator()<std::uint16_t, DataType::float16>(blocks);
      break;
    case DataType::float32:
      launch.template operator()<std::uint32_t, DataType::float32>(blocks);
      break;
    case DataType::float64:
      launch.template operator()<std::uint64_t, DataType::float64>(blocks);
      break;
    case DataType::bfloat16:
      launch.template operator()<std::uint16_t, DataType::bfloat16>(blocks);
      break;
    case DataType::float8_e4m3:
      launch.template operator()<std::uint8_t, DataType::float8_e4m3>(blocks);
      break;
    case DataType::float8_e5m2:
      launch.template operator()<std::uint8_t, DataType::float8_e5m2>(blocks);
      break;
    default:
      return cudaErrorInvalidValue;
  }
  return cudaGetLastError();
}

}  // namespace kernels
}  // namespace collbench::collectives

using namespace collbench::collectives::kernels;

// All else is hidden: the static CUDA runtime in here is this library's own.
#pragma GCC visibility push(default)
extern "C" {

int collbench_kernel_interface() { return kKernelInterface; }

int collbench_kernel_set_device(int device) { return cudaSetDevice(device); }

int collbench_kernel_fill(const KernelElements* elements, void* to, CudaStreamObject* stream) {
  return with_type(*elements, [&]<typename Bits, DataType type>(unsigned blocks) {
    fill<Bits, type>
        <<<blocks, kThreads, 0, reinterpret_cast<cudaStream_t>(stream)>>>(*elements, static_cast<Bits*>(to));
  });
}

int collbench_kernel_check(const KernelElements* elements, const void* received, std::uint64_t first_index,
                           std::uint32_t tolerance, KernelMismatch* found, CudaStreamObject* stream) {
  return with_type(*elements, [&]<typename Bits, DataType type>(unsigned blocks) {
    check<Bits, type><<<blocks, kThreads, 0, reinterpret_cast<cudaStream_t>(stream)>>>(
        *elements, static_cast<const Bits*>(received), first_index, tolerance, found);
  });
}

}  // extern "C"
#pragma GCC visibility pop
