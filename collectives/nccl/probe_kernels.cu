// The part of the kernel library (kernel_interface.hpp) that a GPU's probe calls, for nvcc.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#include <cuda_runtime.h>

#include <type_traits>

#include "base/record/data_type.hpp"
#include "collectives/data/normal_formula.hpp"
#include "collectives/nccl/loader/kernel_interface.hpp"

using namespace collbench;
using namespace collbench::collectives;

namespace collbench::collectives {
// With a name: as in kernels.cu.
namespace probe_kernels {

constexpr unsigned kThreads = 256;
constexpr unsigned kBlocksOfFill = 2048;

template <typename Number>
__device__ Number number_of(float value) {
  if constexpr (std::is_same_v<Number, __half>) return __float2half_rn(value);
  if constexpr (std::is_same_v<Number, __nv_bfloat16>) return __float2bfloat16(value);
  return static_cast<Number>(value);
}

template <typename Number>
__global__ void fill_normal(Number* to, std::uint64_t count, std::uint64_t seed) {
  const std::uint64_t step = static_cast<std::uint64_t>(gridDim.x) * blockDim.x;
  for (std::uint64_t i = static_cast<std::uint64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += step)
    to[i] = number_of<Number>(normal_value(i, seed));
}

/// Two elements a thread: loads and stores of 16 bytes.
__global__ void triad(double2* a, const double2* b, const double2* c, double factor, std::uint64_t pairs) {
  const std::uint64_t i = static_cast<std::uint64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= pairs) return;
  const double2 x = b[i];
  const double2 y = c[i];
  a[i] = {x.x + factor * y.x, x.y + factor * y.y};
}

template <typename Number>
int put_fill(void* to, std::uint64_t count, std::uint64_t seed, CudaStreamObject* stream) {
  fill_normal<<<kBlocksOfFill, kThreads, 0, reinterpret_cast<cudaStream_t>(stream)>>>(static_cast<Number*>(to), count,
                                                                                     seed);
  return cudaGetLastError();
}

}  // namespace probe_kernels
}  // namespace collbench::collectives

using namespace collbench::collectives::probe_kernels;

#pragma GCC visibility push(default)
extern "C" {

int collbench_kernel_fill_normal(void* to, std::uint64_t count, std::uint32_t type, std::uint64_t seed,
                                 CudaStreamObject* stream) {
  switch (static_cast<DataType>(type)) {
    case DataType::float16:
      return put_fill<__half>(to, count, seed, stream);
    case DataType::bfloat16:
      return put_fill<__nv_bfloat16>(to, count, seed, stream);
    case DataType::float8_e4m3:
      return put_fill<__nv_fp8_e4m3>(to, count, seed, stream);
    case DataType::float32:
      return put_fill<float>(to, count, seed, stream);
    case DataType::float64:
      return put_fill<double>(to, count, seed, stream);
    default:
      return cudaErrorInvalidValue;
  }
}

int collbench_kernel_triad(double* a, const double* b, const double* c, double factor, std::uint64_t count,
                           CudaStreamObject* stream) {
  const std::uint64_t pairs = count / 2;
  const std::uint64_t blocks = (pairs + kThreads - 1) / kThreads;
  if (blocks == 0 || blocks > 0x7fffffffU) return cudaErrorInvalidValue;
  triad<<<static_cast<unsigned>(blocks), kThreads, 0, reinterpret_cast<cudaStream_t>(stream)>>>(
      reinterpret_cast<double2*>(a), reinterpret_cast<const double2*>(b), reinterpret_cast<const double2*>(c), factor,
      pairs);
  return cudaGetLastError();
}

}  // extern "C"
#pragma GCC visibility pop
