#pragma once
#include <array>
#include <cstddef>

// What the simulated CUDA shares with its callers, in our own words and so that a build needs no CUDA: values
// and layouts that are the same in CUDA 11 to 13. cuda_types_test.cpp compares them with the real headers
// where there are some.

namespace collbench::simulated_gpu {

/// Of cudaError_t and CUresult alike.
enum CudaStatus : int {
  kSuccess = 0,
  kInvalidValue = 1,
  kOutOfMemory = 2,
  kNoDevice = 100,
  kInvalidDevice = 101,
  kNotReady = 600,
  kNotSupported = 801,
  kStreamCaptureUnsupported = 900,
};

/// Of CUdevice_attribute and cudaDeviceAttr alike.
enum CudaDeviceAttribute : int {
  kMaxThreadsPerBlock = 1,
  kMaxSharedMemoryPerBlock = 8,
  kWarpSize = 10,
  kMultiprocessorCount = 16,
  kUnifiedAddressing = 41,
  kComputeCapabilityMajor = 75,
  kComputeCapabilityMinor = 76,
  kMaxSharedMemoryPerMultiprocessor = 81,
  kMaxSharedMemoryPerBlockOptin = 97,
  kVirtualMemoryManagement = 102,
  kPosixFileDescriptorHandles = 103,
  kGpudirectRdmaWithVirtualMemory = 110,
  kGpudirectRdma = 116,
  kDmaBuf = 124,
  kFabricHandles = 128,
  kMulticast = 132,
};

enum CudaMemoryType : int { kUnregistered = 0, kHost = 1, kDevice = 2 };

/// cudaPointerAttributes up to what CUDA 13 added.
struct CudaPointerAttributes {
  int type;
  int device;
  void* device_pointer;
  void* host_pointer;
};

/// cudaFuncAttributes up to numRegs.
struct CudaFunctionAttributes {
  std::size_t shared_bytes;
  std::size_t constant_bytes;
  std::size_t local_bytes;
  int max_threads_per_block;
  int registers;
};

/// cudaDeviceProp up to minor.
struct CudaProperties {
  std::array<char, 256> name;
  std::array<unsigned char, 16> uuid;
  std::array<char, 8> luid;
  unsigned luid_mask;
  std::size_t total_bytes;
  std::size_t shared_bytes_per_block;
  int registers_per_block;
  int warp_threads;
  std::size_t pitch_bytes;
  int max_threads_per_block;
  std::array<int, 3> max_block;
  std::array<int, 3> max_grid;
  int unused;  ///< clockRate before CUDA 13
  std::size_t constant_bytes;
  int major;
  int minor;
};

/// CUmemAllocationProp.
struct CudaAllocationProperties {
  int type;
  int handle_types;
  int location_type;
  int location;
  void* unused;
  std::array<unsigned char, 8> flags;
};
inline constexpr int kPinned = 1;
inline constexpr int kOnDevice = 1;
inline constexpr int kPosixFileDescriptor = 1;
inline constexpr int kFabric = 8;

/// CUmemFabricHandle: 64 bytes that any host of the NVLink domain can import. Simulated hosts are processes
/// of one, so here they name an open file of another process.
struct CudaFabricHandle {
  int process;
  int file;
  std::array<unsigned char, 56> unused;
};

/// CUmulticastObjectProp.
struct CudaMulticastProperties {
  unsigned devices;
  std::size_t bytes;
  unsigned long long handle_types;
  unsigned long long flags;
};

struct CudaIpcHandle {
  std::array<char, 64> reserved;
};

/// cudaHostNodeParams.
struct CudaHostNode {
  void (*function)(void*);
  void* data;
};

/// CUpointer_attribute.
enum CudaPointerAttribute : int {
  kPointerMemoryType = 2,
  kPointerDeviceOrdinal = 9,
  kPointerIsLegacyIpcCapable = 10,
  kPointerAllowedHandleTypes = 14,
};

}  // namespace collbench::simulated_gpu
