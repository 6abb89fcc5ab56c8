#pragma once
#include <cstddef>
#include <string>

#include "base/error.hpp"
#include "collectives/nccl/cuda_types.hpp"

namespace collbench {

/// The CUDA runtime, reached through one table of functions. It stays loaded to the end of the process.
struct CudaLibrary {
  std::string path;
  int version = 0;  ///< major × 1000 + minor × 10

  CudaResult (*get_device_count)(int*) = nullptr;
  CudaResult (*driver_get_version)(int*) = nullptr;
  CudaResult (*set_device)(int) = nullptr;
  CudaResult (*device_get_pci_bus_id)(char* text, int length, int device) = nullptr;
  CudaResult (*get_device_properties)(CudaDeviceProperties*, int device) = nullptr;
  CudaResult (*memory_info)(std::size_t* free, std::size_t* total) = nullptr;
  CudaResult (*allocate)(void**, std::size_t) = nullptr;
  CudaResult (*free)(void*) = nullptr;
  CudaResult (*copy)(void* to, const void* from, std::size_t, CudaCopy) = nullptr;
  CudaResult (*set_bytes)(void*, int value, std::size_t, CudaStreamHandle) = nullptr;
  CudaResult (*stream_create)(CudaStreamHandle*, unsigned int flags) = nullptr;
  CudaResult (*stream_destroy)(CudaStreamHandle) = nullptr;
  CudaResult (*stream_query)(CudaStreamHandle) = nullptr;
  CudaResult (*event_create)(CudaEventHandle*) = nullptr;
  CudaResult (*event_destroy)(CudaEventHandle) = nullptr;
  CudaResult (*event_record)(CudaEventHandle, CudaStreamHandle) = nullptr;
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

  /// Finds the CUDA runtime and fills the table. Throws Error (not_here) when there is none, or when it lacks
  /// a function, which is then named.
  [[nodiscard]] static CudaLibrary load();

  /// GPUs that this process can use, at least one. Throws Error (not_here) when there is none, and says why:
  /// no driver, an old one, or CUDA_VISIBLE_DEVICES.
  [[nodiscard]] int device_count() const;

  /// Throws Error (rank_lost) in CUDA's own words unless `result` is success.
  void check(CudaResult result, const char* call) const;
};

/// 12080 as "12.8".
[[nodiscard]] std::string cuda_version_text(int version);

}  // namespace collbench
