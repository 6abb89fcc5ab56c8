#pragma once
#include <array>
#include <cstddef>
#include <string>
#include <string_view>

// What we use of the CUDA runtime's interface, in our own words, so that a build needs no CUDA: names and
// values that are the same in CUDA 11, 12 and 13. tests/collectives/nccl/headers_test.cpp compares them with
// the real cuda_runtime.h where there is one.

namespace collbench::collectives {

enum class CudaResult : int {
  success = 0,
  invalid_value = 1,
  memory_allocation = 2,
  initialization_error = 3,
  insufficient_driver = 35,
  devices_unavailable = 46,
  no_device = 100,
  invalid_device = 101,
  no_kernel_image = 209,
  ecc_uncorrectable = 214,
  unsupported_ptx = 222,
  not_ready = 600,
  peer_access_already_enabled = 704,
  too_many_peers = 711,
  system_not_ready = 802,
  system_driver_mismatch = 803,
  stream_capture_unsupported = 900,
};

enum class CudaCopy : int { host_to_device = 1, device_to_host = 2, device_to_device = 3 };

enum class CudaAttribute : int {
  l2_bytes = 38,
  compute_capability_major = 75,
  compute_capability_minor = 76
};

/// Of a capture: calls of other threads, such as NCCL's own, may go on.
enum class CudaCapture : int { own_thread = 1 };

/// Flag of a stream that does not wait for the default stream.
inline constexpr unsigned int kCudaStreamNonBlocking = 1;

/// Flag of cudaHostAlloc for memory that every GPU's copies use as pinned.
inline constexpr unsigned int kCudaHostPortable = 1;

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

/// The CUDA runtime, reached through one table of functions. It stays loaded to the end of the process.
struct CudaLibrary {
  std::string path;
  int version = 0;  ///< major × 1000 + minor × 10
  /// Whether no GPU is behind it, but NCCL's host code alone (docs/notes/gpu-simulated.md): times are the
  /// CPU's.
  bool is_simulated = false;

  CudaResult (*get_device_count)(int*) = nullptr;
  CudaResult (*driver_get_version)(int*) = nullptr;
  CudaResult (*set_device)(int) = nullptr;
  CudaResult (*device_get_pci_bus_id)(char* text, int length, int device) = nullptr;
  CudaResult (*get_device_properties)(CudaDeviceProperties*, int device) = nullptr;
  CudaResult (*memory_info)(std::size_t* free, std::size_t* total) = nullptr;
  CudaResult (*allocate)(void**, std::size_t) = nullptr;
  CudaResult (*free)(void*) = nullptr;
  CudaResult (*copy)(void* to, const void* from, std::size_t, CudaCopy) = nullptr;
  CudaResult (*copy_async)(void* to, const void* from, std::size_t, CudaCopy, CudaStreamHandle) = nullptr;
  CudaResult (*set_bytes)(void*, int value, std::size_t, CudaStreamHandle) = nullptr;
  CudaResult (*stream_create)(CudaStreamHandle*, unsigned int flags) = nullptr;
  CudaResult (*stream_destroy)(CudaStreamHandle) = nullptr;
  CudaResult (*stream_query)(CudaStreamHandle) = nullptr;
  CudaResult (*event_create)(CudaEventHandle*) = nullptr;
  CudaResult (*event_destroy)(CudaEventHandle) = nullptr;
  CudaResult (*event_record)(CudaEventHandle, CudaStreamHandle) = nullptr;
  CudaResult (*event_query)(CudaEventHandle) = nullptr;
  CudaResult (*event_elapsed_time)(float* milliseconds, CudaEventHandle from, CudaEventHandle to) = nullptr;
  CudaResult (*device_get_attribute)(int* value, CudaAttribute, int device) = nullptr;
  CudaResult (*stream_begin_capture)(CudaStreamHandle, CudaCapture) = nullptr;
  CudaResult (*stream_end_capture)(CudaStreamHandle, CudaGraphHandle*) = nullptr;
  /// cudaGraphInstantiateWithFlags, which takes the same in all versions from 11.4 on. Null before.
  CudaResult (*graph_instantiate)(CudaGraphExecHandle*, CudaGraphHandle, unsigned long long flags) = nullptr;
  CudaResult (*graph_launch)(CudaGraphExecHandle, CudaStreamHandle) = nullptr;
  CudaResult (*graph_exec_destroy)(CudaGraphExecHandle) = nullptr;
  CudaResult (*graph_destroy)(CudaGraphHandle) = nullptr;
  const char* (*get_error_string)(CudaResult) = nullptr;

  // What only the probe of GPUs calls; a runtime that lacks one is refused there (need_probe_functions).
  CudaResult (*host_allocate)(void**, std::size_t, unsigned int flags) = nullptr;
  CudaResult (*host_free)(void*) = nullptr;
  CudaResult (*peer_possible)(int* possible, int device, int peer) = nullptr;
  CudaResult (*peer_enable)(int peer, unsigned int flags) = nullptr;
  CudaResult (*peer_disable)(int peer) = nullptr;
  CudaResult (*copy_peer_async)(void* to, int to_device, const void* from, int from_device, std::size_t,
                                CudaStreamHandle) = nullptr;

  /// Finds the CUDA runtime and fills the table: the first that can be loaded and that the driver is new
  /// enough for; where there is none of these, the first. Throws Error (not_here) when there is none, or when
  /// it lacks a function, which is then named.
  [[nodiscard]] static CudaLibrary load();

  /// Throws Error (not_here) that names a function which is missing.
  void need_probe_functions() const;

  /// The newest CUDA that the driver runs, as `version`; 0 where it does not say.
  [[nodiscard]] int driver_version() const;

  /// GPUs that this process can use, at least one. Throws Error (not_here) when there is none, and says why:
  /// no driver, an old one, or CUDA_VISIBLE_DEVICES. `instead` is what else can be done.
  [[nodiscard]] int device_count(std::string_view instead) const;

  /// Throws Error in CUDA's own words unless `result` is success: not_here where CUDA cannot work here at all
  /// (cuda_obstacle.hpp), usage where the GPU has no memory left, rank_lost for anything else.
  void check(CudaResult result, const char* call) const;
};

/// 12080 as "12.8".
[[nodiscard]] std::string cuda_version_text(int version);

}  // namespace collbench::collectives
