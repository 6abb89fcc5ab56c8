// What the simulated CUDA shares with its callers, compared with CUDA's own headers.
#include <cuda.h>
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include "tools/nccl_plan/simulated_gpu/cuda_types.hpp"

namespace collbench::simulated_gpu {
namespace {

TEST(CudaHeaders, Values) {
  EXPECT_EQ(kInvalidValue, static_cast<int>(cudaErrorInvalidValue));
  EXPECT_EQ(kInvalidValue, static_cast<int>(CUDA_ERROR_INVALID_VALUE));
  EXPECT_EQ(kOutOfMemory, static_cast<int>(cudaErrorMemoryAllocation));
  EXPECT_EQ(kNoDevice, static_cast<int>(cudaErrorNoDevice));
  EXPECT_EQ(kInvalidDevice, static_cast<int>(cudaErrorInvalidDevice));
  EXPECT_EQ(kNotReady, static_cast<int>(cudaErrorNotReady));
  EXPECT_EQ(kNotSupported, static_cast<int>(cudaErrorNotSupported));
  EXPECT_EQ(kNotSupported, static_cast<int>(CUDA_ERROR_NOT_SUPPORTED));
  EXPECT_EQ(kStreamCaptureUnsupported, static_cast<int>(cudaErrorStreamCaptureUnsupported));
  EXPECT_EQ(kUnregistered, static_cast<int>(cudaMemoryTypeUnregistered));
  EXPECT_EQ(kHost, static_cast<int>(cudaMemoryTypeHost));
  EXPECT_EQ(kDevice, static_cast<int>(cudaMemoryTypeDevice));
  EXPECT_EQ(kHost, static_cast<int>(CU_MEMORYTYPE_HOST));
  EXPECT_EQ(kDevice, static_cast<int>(CU_MEMORYTYPE_DEVICE));
  EXPECT_EQ(kPinned, static_cast<int>(CU_MEM_ALLOCATION_TYPE_PINNED));
  EXPECT_EQ(kOnDevice, static_cast<int>(CU_MEM_LOCATION_TYPE_DEVICE));
  EXPECT_EQ(kPosixFileDescriptor, static_cast<int>(CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
  EXPECT_EQ(kPointerMemoryType, static_cast<int>(CU_POINTER_ATTRIBUTE_MEMORY_TYPE));
  EXPECT_EQ(kPointerDeviceOrdinal, static_cast<int>(CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL));
  EXPECT_EQ(kPointerIsLegacyIpcCapable, static_cast<int>(CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE));
  EXPECT_EQ(kPointerAllowedHandleTypes, static_cast<int>(CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES));
}

TEST(CudaHeaders, DeviceAttributes) {
  EXPECT_EQ(kMaxThreadsPerBlock, static_cast<int>(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK));
  EXPECT_EQ(kMaxSharedMemoryPerBlock, static_cast<int>(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK));
  EXPECT_EQ(kWarpSize, static_cast<int>(CU_DEVICE_ATTRIBUTE_WARP_SIZE));
  EXPECT_EQ(kMultiprocessorCount, static_cast<int>(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT));
  EXPECT_EQ(kUnifiedAddressing, static_cast<int>(CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING));
  EXPECT_EQ(kComputeCapabilityMajor, static_cast<int>(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR));
  EXPECT_EQ(kComputeCapabilityMinor, static_cast<int>(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR));
  EXPECT_EQ(kMaxSharedMemoryPerMultiprocessor,
            static_cast<int>(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR));
  EXPECT_EQ(kMaxSharedMemoryPerBlockOptin,
            static_cast<int>(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN));
  EXPECT_EQ(kVirtualMemoryManagement,
            static_cast<int>(CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED));
  EXPECT_EQ(kPosixFileDescriptorHandles,
            static_cast<int>(CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED));
  EXPECT_EQ(kGpudirectRdmaWithVirtualMemory,
            static_cast<int>(CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_WITH_CUDA_VMM_SUPPORTED));
  EXPECT_EQ(kGpudirectRdma, static_cast<int>(CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_SUPPORTED));
  EXPECT_EQ(kDmaBuf, static_cast<int>(CU_DEVICE_ATTRIBUTE_DMA_BUF_SUPPORTED));
  EXPECT_EQ(kMulticast, static_cast<int>(CU_DEVICE_ATTRIBUTE_MULTICAST_SUPPORTED));
}

TEST(CudaHeaders, Layouts) {
  EXPECT_EQ(offsetof(CudaPointerAttributes, device), offsetof(cudaPointerAttributes, device));
  EXPECT_EQ(offsetof(CudaPointerAttributes, device_pointer), offsetof(cudaPointerAttributes, devicePointer));
  EXPECT_EQ(offsetof(CudaPointerAttributes, host_pointer), offsetof(cudaPointerAttributes, hostPointer));
  EXPECT_LE(sizeof(CudaPointerAttributes), sizeof(cudaPointerAttributes));
  EXPECT_EQ(offsetof(CudaFunctionAttributes, max_threads_per_block),
            offsetof(cudaFuncAttributes, maxThreadsPerBlock));
  EXPECT_EQ(offsetof(CudaFunctionAttributes, registers), offsetof(cudaFuncAttributes, numRegs));
  EXPECT_EQ(offsetof(CudaProperties, uuid), offsetof(cudaDeviceProp, uuid));
  EXPECT_EQ(offsetof(CudaProperties, total_bytes), offsetof(cudaDeviceProp, totalGlobalMem));
  EXPECT_EQ(offsetof(CudaProperties, shared_bytes_per_block), offsetof(cudaDeviceProp, sharedMemPerBlock));
  EXPECT_EQ(offsetof(CudaProperties, warp_threads), offsetof(cudaDeviceProp, warpSize));
  EXPECT_EQ(offsetof(CudaProperties, max_threads_per_block), offsetof(cudaDeviceProp, maxThreadsPerBlock));
  EXPECT_EQ(offsetof(CudaProperties, constant_bytes), offsetof(cudaDeviceProp, totalConstMem));
  EXPECT_EQ(offsetof(CudaProperties, major), offsetof(cudaDeviceProp, major));
  EXPECT_EQ(offsetof(CudaProperties, minor), offsetof(cudaDeviceProp, minor));
  EXPECT_EQ(sizeof(CudaAllocationProperties), sizeof(CUmemAllocationProp));
  EXPECT_EQ(offsetof(CudaAllocationProperties, handle_types),
            offsetof(CUmemAllocationProp, requestedHandleTypes));
  EXPECT_EQ(offsetof(CudaAllocationProperties, location_type), offsetof(CUmemAllocationProp, location.type));
  EXPECT_EQ(offsetof(CudaAllocationProperties, location), offsetof(CUmemAllocationProp, location.id));
  EXPECT_EQ(sizeof(CudaMulticastProperties), sizeof(CUmulticastObjectProp));
  EXPECT_EQ(offsetof(CudaMulticastProperties, bytes), offsetof(CUmulticastObjectProp, size));
  EXPECT_EQ(sizeof(CudaIpcHandle), sizeof(cudaIpcMemHandle_t));
  EXPECT_EQ(offsetof(CudaHostNode, data), offsetof(cudaHostNodeParams, userData));
}

}  // namespace
}  // namespace collbench::simulated_gpu
