// CUDA's runtime: devices, versions, errors, kernels. The names and signatures are CUDA's
// (cuda_runtime_api.h); structs that callers own are those of cuda_types.hpp.
#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <cstdio>
#include <string>

#include "tools/nccl_plan/simulated_gpu/cuda_types.hpp"
#include "tools/nccl_plan/simulated_gpu/devices.hpp"
#include "tools/nccl_plan/simulated_gpu/process.hpp"

namespace collbench::simulated_gpu {
namespace {

/// A driver supports what is older than it is.
constexpr int kDriverVersion = 13000;

/// What NCCL's kernels take of a multiprocessor is for their launch, which is not simulated.
constexpr CudaFunctionAttributes kAnyKernel{0, 0, 0, 640, 96};

struct CudaError {
  int status;
  const char* name;
  const char* words;
};

/// CUDA's names and words for what is raised here, and for what code made for a real driver returns where
/// there is none.
constexpr std::array kErrors{
    CudaError{0, "cudaSuccess", "no error"},
    CudaError{1, "cudaErrorInvalidValue", "invalid argument"},
    CudaError{2, "cudaErrorMemoryAllocation", "out of memory"},
    CudaError{3, "cudaErrorInitializationError", "initialization error"},
    CudaError{35, "cudaErrorInsufficientDriver",
              "CUDA driver version is insufficient for CUDA runtime version"},
    CudaError{46, "cudaErrorDevicesUnavailable", "CUDA-capable device(s) is/are busy or unavailable"},
    CudaError{100, "cudaErrorNoDevice", "no CUDA-capable device is detected"},
    CudaError{101, "cudaErrorInvalidDevice", "invalid device ordinal"},
    CudaError{209, "cudaErrorNoKernelImageForDevice",
              "no kernel image is available for execution on the device"},
    CudaError{214, "cudaErrorECCUncorrectable", "uncorrectable ECC error encountered"},
    CudaError{222, "cudaErrorUnsupportedPtxVersion",
              "the provided PTX was compiled with an unsupported toolchain."},
    CudaError{600, "cudaErrorNotReady", "device not ready"},
    CudaError{704, "cudaErrorPeerAccessAlreadyEnabled", "peer access is already enabled"},
    CudaError{711, "cudaErrorTooManyPeers", "peer mapping resources exhausted"},
    CudaError{801, "cudaErrorNotSupported", "operation not supported (by the simulated GPU)"},
    CudaError{802, "cudaErrorSystemNotReady", "system not yet initialized"},
    CudaError{803, "cudaErrorSystemDriverMismatch",
              "system has unsupported display driver / cuda driver combination"},
    CudaError{900, "cudaErrorStreamCaptureUnsupported", "operation not permitted when stream is capturing"},
    CudaError{999, "cudaErrorUnknown", "unknown error"},
};
constexpr CudaError kUnlistedError{-1, "unrecognized error code", "unrecognized error code"};

const CudaError& error_of(int status) {
  const auto* const found = std::ranges::find(kErrors, status, &CudaError::status);
  return found == kErrors.end() ? kUnlistedError : *found;
}

constexpr std::size_t kReportedBytes = std::size_t{80} << 30U;

}  // namespace

// NOLINTBEGIN(readability-identifier-naming): the names are CUDA's.
extern "C" {

int cudaRuntimeGetVersion(int* version) {
  *version = simulated_process().runtime_version;
  return kSuccess;
}

int cudaDriverGetVersion(int* version) {
  *version = std::max(kDriverVersion, simulated_process().runtime_version);
  return kSuccess;
}

int cudaGetDeviceCount(int* count) {
  *count = static_cast<int>(simulated_process().visible.size());
  return *count == 0 ? kNoDevice : kSuccess;
}

int cudaGetDevice(int* device) {
  *device = current_device();
  return kSuccess;
}

int cudaSetDevice(int device) {
  if (simulated_process().gpu(device) == nullptr) return kInvalidDevice;
  current_device() = device;
  return kSuccess;
}

int cudaDeviceGetPCIBusId(char* text, int length, int device) {
  const SimulatedGpu* const gpu = simulated_process().gpu(device);
  if (gpu == nullptr) return kInvalidDevice;
  std::string address = gpu->pci_address;
  std::ranges::transform(address, address.begin(),
                         [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  std::snprintf(text, static_cast<std::size_t>(length), "%s", address.c_str());
  return kSuccess;
}

/// Of all versions' struct only the beginning, which is the same in all, and what any of them has at 0.
int cudaGetDeviceProperties(CudaProperties* properties, int device) {
  const SimulatedGpu* const gpu = simulated_process().gpu(device);
  if (gpu == nullptr) return kInvalidDevice;
  *properties = {};
  std::snprintf(properties->name.data(), properties->name.size(), "%s", name_of(*gpu));
  properties->uuid = uuid_of(*gpu, simulated_process().host.index);
  properties->total_bytes = kReportedBytes;
  properties->shared_bytes_per_block = 49152;
  properties->registers_per_block = 65536;
  properties->warp_threads = 32;
  properties->max_threads_per_block = 1024;
  properties->major = gpu->compute_capability / 10;
  properties->minor = gpu->compute_capability % 10;
  return kSuccess;
}

int cudaGetDeviceProperties_v2(CudaProperties* properties, int device) {
  return cudaGetDeviceProperties(properties, device);
}

int cudaDeviceGetAttribute(int* value, int attribute, int device) {
  const SimulatedGpu* const gpu = simulated_process().gpu(device);
  if (gpu == nullptr) return kInvalidDevice;
  *value = attribute_value(*gpu, attribute);
  return kSuccess;
}

int cudaDeviceCanAccessPeer(int* can, int device, int peer) {
  *can = device != peer ? 1 : 0;
  return kSuccess;
}

int cudaDeviceEnablePeerAccess(int /*peer*/, unsigned /*flags*/) { return kSuccess; }

int cudaDeviceSetLimit(int /*limit*/, std::size_t /*value*/) { return kSuccess; }

int cudaDeviceSynchronize() {
  simulated_process().streams.wait_for_all();
  return kSuccess;
}

/// What is left of a device is its owners'.
int cudaDeviceReset() { return cudaDeviceSynchronize(); }

int cudaGetLastError() { return kSuccess; }
int cudaPeekAtLastError() { return kSuccess; }

const char* cudaGetErrorName(int status) { return error_of(status).name; }

const char* cudaGetErrorString(int status) { return error_of(status).words; }

int cudaGetFuncBySymbol(const void** function, const void* symbol) {
  *function = symbol;
  return kSuccess;
}

int cudaFuncGetAttributes(CudaFunctionAttributes* attributes, const void* /*function*/) {
  *attributes = kAnyKernel;
  return kSuccess;
}

int cudaFuncSetAttribute(const void* /*function*/, int /*attribute*/, int /*value*/) { return kSuccess; }

// Kernels are not run.

int cudaLaunchKernelExC(const void* /*config*/, const void* /*function*/, void** /*arguments*/) {
  return kSuccess;
}

struct Dimensions {
  unsigned x, y, z;
};

int cudaLaunchKernel(const void* /*function*/, Dimensions /*grid*/, Dimensions /*block*/,
                     void** /*arguments*/, std::size_t /*shared_bytes*/, void* /*stream*/) {
  return kSuccess;
}

int cudaGetDriverEntryPoint(const char* name, void** function, unsigned long long /*flags*/, int* found) {
  *function = driver_function(name);
  // Before CUDA 12 there was no fourth argument.
  if (simulated_process().runtime_version >= 12000 && found != nullptr) *found = 0;
  return kSuccess;
}

int cudaGetDriverEntryPointByVersion(const char* name, void** function, unsigned /*version*/,
                                     unsigned long long flags, int* found) {
  return cudaGetDriverEntryPoint(name, function, flags, found);
}

}  // extern "C"
// NOLINTEND(readability-identifier-naming)

}  // namespace collbench::simulated_gpu
