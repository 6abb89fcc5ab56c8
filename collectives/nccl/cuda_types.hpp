#pragma once
#include <array>
#include <cstddef>

// What we use of the CUDA runtime's interface, in our own words, so that a build needs no CUDA: names and
// values that are the same in CUDA 11, 12 and 13. tests/collectives/nccl/headers_test.cpp compares them with
// the real cuda_runtime.h where there is one.

namespace collbench {

enum class CudaResult : int {
  success = 0,
  invalid_value = 1,
  memory_allocation = 2,
  initialization_error = 3,
  insufficient_driver = 35,
  no_device = 100,
  invalid_device = 101,
  ecc_uncorrectable = 214,
  not_ready = 600,
  system_driver_mismatch = 803,
  stream_capture_unsupported = 900,
};

enum class CudaCopy : int { host_to_device = 1, device_to_host = 2 };

enum class CudaAttribute : int { compute_capability_major = 75, compute_capability_minor = 76 };

/// Of a capture: calls of other threads, such as NCCL's own, may go on.
enum class CudaCapture : int { own_thread = 1 };

/// Flag of a stream that does not wait for the default stream.
inline constexpr unsigned int kCudaStreamNonBlocking = 1;

/// The beginning of cudaDeviceProp, which is the same in all versions; the rest, of which each version has
/// another length, is room that the runtime may write to.
struct CudaDeviceProperties {
  std::array<char, 256> name;
  std::array<unsigned char, 16> uuid;
  std::array<std::byte, 8192 - 256 - 16> rest;
};

struct CudaStreamObject;  ///< CUDA's own
using CudaStreamHandle = CudaStreamObject*;
struct CudaEventObject;  ///< CUDA's own
using CudaEventHandle = CudaEventObject*;
struct CudaGraphObject;  ///< CUDA's own
using CudaGraphHandle = CudaGraphObject*;
struct CudaGraphExecObject;  ///< CUDA's own: a graph that can be launched
using CudaGraphExecHandle = CudaGraphExecObject*;

}  // namespace collbench
