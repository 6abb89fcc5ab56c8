
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <string_view>

#include "tools/nccl_plan/simulated_gpu/cuda_types.hpp"
#include "tools/nccl_plan/simulated_gpu/devices.hpp"
#include "tools/nccl_plan/simulated_gpu/process.hpp"
#include "tools/nccl_plan/simulated_gpu/redirection.hpp"

namespace collbench::simulated_gpu {
namespace {

int get_error_string(int /*status*/, const char** text) {
  *text = "an error of the simulated GPU";
  return kSuccess;
}

int device_get(int* device, int ordinal) {
  *device = ordinal;
  return simulated_process().gpu(ordinal) == nullptr ? kInvalidDevice : kSuccess;
}

int device_get_attribute(int* value, int attribute, int device) {
  const SimulatedGpu* const gpu = simulated_process().gpu(device);
  if (gpu == nullptr) return kInvalidDevice;
  const bool shared_domain = simulated_process().nvlink_domain().has_value();
  *value = attribute == kFabricHandles ? static_cast<int>(shared_domain) : attribute_value(*gpu, attribute);
  return kSuccess;
}

int device_get_uuid(unsigned char* uuid, int device) {
  const SimulatedGpu* const gpu = simulated_process().gpu(device);
  if (gpu == nullptr) return kInvalidDevice;
  const auto bytes = uuid_of(*gpu, simulated_process().host.index);
  std::memcpy(uuid, bytes.data(), bytes.size());
  return kSuccess;
}

// A context is its device's number, and 1, since null is none.

void* context_of(int device) { return reinterpret_cast<void*>(static_cast<std::uintptr_t>(device) + 1); }

int context_create(void** context, unsigned /*flags*/, int device) {
  *context = context_of(device);
  return kSuccess;
}
int context_get_current(void** context) {
  *context = context_of(current_device());
  return kSuccess;
}
int context_set_current(void* context) {
  if (context != nullptr) current_device() = static_cast<int>(reinterpret_cast<std::uintptr_t>(context) - 1);
  return kSuccess;
}
int context_get_device(int* device) {
  *device = current_device();
  return kSuccess;
}

/// Kernels are not run; access, multicast groups and contexts need nothing done. Whatever the arguments are,
/// the caller takes them off.
int succeed() { return kSuccess; }

int get_address_range(std::uintptr_t* begin, std::size_t* bytes, std::uintptr_t address) {
  const auto block = simulated_process().blocks.find(reinterpret_cast<const void*>(address));
  if (!block) return kInvalidValue;
  if (begin != nullptr) *begin = block->address;
  if (bytes != nullptr) *bytes = block->bytes;
  return kSuccess;
}

unsigned long long handle_types() {
  return kPosixFileDescriptor | (simulated_process().nvlink_domain() ? kFabric : 0);
}

int pointer_get_attribute(void* value, int attribute, std::uintptr_t address) {
  const auto block = simulated_process().blocks.find(reinterpret_cast<const void*>(address));
  if (!block) return kInvalidValue;
  switch (attribute) {
    case kPointerMemoryType:
      *static_cast<unsigned*>(value) = block->kind == BlockKind::host ? kHost : kDevice;
      return kSuccess;
    case kPointerDeviceOrdinal:
      *static_cast<int*>(value) = block->device;
      return kSuccess;
    case kPointerIsLegacyIpcCapable:
      *static_cast<int*>(value) = block->kind == BlockKind::allocated ? 1 : 0;
      return kSuccess;
    case kPointerAllowedHandleTypes:
      *static_cast<unsigned long long*>(value) = block->kind == BlockKind::mapped ? handle_types() : 0;
      return kSuccess;
    default:
      return kInvalidValue;
  }
}

int granularity(std::size_t* bytes, const void* /*properties*/, int /*option*/) {
  *bytes = kGranularityBytes;
  return kSuccess;
}

int memory_create(MemoryHandle** handle, std::size_t bytes, const CudaAllocationProperties* properties,
                  unsigned long long /*flags*/) {
  *handle = simulated_process().handles.create(bytes, *properties);
  return *handle == nullptr ? kOutOfMemory : kSuccess;
}

int memory_release(MemoryHandle* handle) {
  simulated_process().handles.release(handle);
  return kSuccess;
}

int memory_export(void* shareable, MemoryHandle* handle, int type, unsigned long long /*flags*/) {
  if (type == kFabric) {
    const CudaFabricHandle fabric{::getpid(), handle->file, {}};
    std::memcpy(shareable, &fabric, sizeof fabric);
    return kSuccess;
  }
  if (type != kPosixFileDescriptor) return kNotSupported;
  const int file = ::dup(handle->file);
  std::memcpy(shareable, &file, sizeof file);
  return file < 0 ? kOutOfMemory : kSuccess;
}

int memory_import(MemoryHandle** handle, void* shareable, int type) {
  if (type == kFabric) {
    const auto& fabric = *static_cast<const CudaFabricHandle*>(shareable);
    const std::string path = "/proc/" + std::to_string(fabric.process) + "/fd/" + std::to_string(fabric.file);
    const int opened = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
    if (opened < 0) return kInvalidValue;
    *handle = simulated_process().handles.import(opened, current_device(), kFabric);
    ::close(opened);
    return *handle == nullptr ? kInvalidValue : kSuccess;
  }
  if (type != kPosixFileDescriptor) return kNotSupported;
  const int file = static_cast<int>(reinterpret_cast<std::uintptr_t>(shareable));
  *handle = simulated_process().handles.import(file, current_device(), kPosixFileDescriptor);
  return *handle == nullptr ? kInvalidValue : kSuccess;
}

int memory_properties(CudaAllocationProperties* properties, MemoryHandle* handle) {
  *properties = handle->properties;
  return kSuccess;
}

int address_reserve(std::uintptr_t* address, std::size_t bytes, std::size_t alignment,
                    std::uintptr_t /*wish*/, unsigned long long /*flags*/) {
  const std::size_t unit = std::max(alignment, kGranularityBytes);
  void* const reserved =
      ::mmap(nullptr, bytes + unit, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (reserved == MAP_FAILED) return kOutOfMemory;
  const auto begin = reinterpret_cast<std::uintptr_t>(reserved);
  *address = rounded_up(begin, unit);
  // What lies before and after goes back at once, so that cuMemAddressFree is a munmap.
  if (*address > begin) ::munmap(reserved, *address - begin);
  const std::uintptr_t end = rounded_up(*address + bytes, kPageBytes);
  if (end < begin + bytes + unit) ::munmap(reinterpret_cast<void*>(end), begin + bytes + unit - end);
  return kSuccess;
}

int address_free(std::uintptr_t address, std::size_t bytes) {
  return ::munmap(reinterpret_cast<void*>(address), bytes) == 0 ? kSuccess : kInvalidValue;
}

int memory_map(std::uintptr_t address, std::size_t bytes, std::size_t offset, MemoryHandle* handle,
               unsigned long long /*flags*/) {
  if (::mmap(reinterpret_cast<void*>(address), bytes, PROT_READ | PROT_WRITE,
             MAP_SHARED | MAP_FIXED | MAP_NORESERVE, handle->file,
             static_cast<off_t>(offset)) == MAP_FAILED) {
    return kInvalidValue;
  }
  SimulatedProcess& process = simulated_process();
  process.handles.map(address, handle);
  process.blocks.add({address, bytes, BlockKind::mapped, handle->properties.location});
  return kSuccess;
}

int memory_unmap(std::uintptr_t address, std::size_t bytes) {
  void* const reserved = ::mmap(reinterpret_cast<void*>(address), bytes, PROT_NONE,
                                MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0);
  if (reserved == MAP_FAILED) return kOutOfMemory;
  SimulatedProcess& process = simulated_process();
  static_cast<void>(process.blocks.remove(reinterpret_cast<const void*>(address)));
  process.handles.unmap(address);
  return kSuccess;
}

int memory_retain(MemoryHandle** handle, const void* address) {
  SimulatedProcess& process = simulated_process();
  const auto block = process.blocks.find(address);
  *handle = block ? process.handles.retain(block->address) : nullptr;
  return *handle == nullptr ? kInvalidValue : kSuccess;
}

/// A DMA-BUF of device memory is for a NIC, and no simulated one reads it.
int handle_for_range(int* file, std::uintptr_t /*address*/, std::size_t /*bytes*/, int /*type*/,
                     unsigned long long /*flags*/) {
  *file = ::memfd_create("simulated DMA-BUF", MFD_CLOEXEC);
  return *file < 0 ? kOutOfMemory : kSuccess;
}

// A multicast object is memory that nobody reads: what switches would add up, no kernel sends.

int multicast_create(MemoryHandle** handle, const CudaMulticastProperties* properties) {
  const CudaAllocationProperties none{};
  return memory_create(handle, properties->bytes, &none, 0);
}

template <class Function>
void* address_of(Function* function) {
  return reinterpret_cast<void*>(function);
}

/// By the names of cuda.h.
std::map<std::string, void*, std::less<>>& driver_functions() {
  static std::map<std::string, void*, std::less<>> functions{
      {"cuGetErrorString", address_of(get_error_string)},
      {"cuGetErrorName", address_of(get_error_string)},
      {"cuDeviceGet", address_of(device_get)},
      {"cuDeviceGetAttribute", address_of(device_get_attribute)},
      {"cuDeviceGetUuid", address_of(device_get_uuid)},
      {"cuDeviceGetUuid_v2", address_of(device_get_uuid)},
      {"cuCtxCreate", address_of(context_create)},
      {"cuCtxDestroy", address_of(succeed)},
      {"cuCtxGetCurrent", address_of(context_get_current)},
      {"cuCtxSetCurrent", address_of(context_set_current)},
      {"cuCtxGetDevice", address_of(context_get_device)},
      {"cuLaunchKernel", address_of(succeed)},
      {"cuLaunchKernelEx", address_of(succeed)},
      {"cuMemGetAddressRange", address_of(get_address_range)},
      {"cuPointerGetAttribute", address_of(pointer_get_attribute)},
      {"cuPointerSetAttribute", address_of(succeed)},
      {"cuMemCreate", address_of(memory_create)},
      {"cuMemRelease", address_of(memory_release)},
      {"cuMemGetAllocationGranularity", address_of(granularity)},
      {"cuMemExportToShareableHandle", address_of(memory_export)},
      {"cuMemImportFromShareableHandle", address_of(memory_import)},
      {"cuMemGetAllocationPropertiesFromHandle", address_of(memory_properties)},
      {"cuMemAddressReserve", address_of(address_reserve)},
      {"cuMemAddressFree", address_of(address_free)},
      {"cuMemMap", address_of(memory_map)},
      {"cuMemUnmap", address_of(memory_unmap)},
      {"cuMemSetAccess", address_of(succeed)},
      {"cuMemRetainAllocationHandle", address_of(memory_retain)},
      {"cuMemGetHandleForAddressRange", address_of(handle_for_range)},
      {"cuMulticastCreate", address_of(multicast_create)},
      {"cuMulticastAddDevice", address_of(succeed)},
      {"cuMulticastBindMem", address_of(succeed)},
      {"cuMulticastBindAddr", address_of(succeed)},
      {"cuMulticastGetGranularity", address_of(granularity)},
      {"cuMulticastUnbind", address_of(succeed)},
  };
  return functions;
}

}  // namespace

void* driver_function(const char* name) {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  auto& functions = driver_functions();
  const auto found = functions.find(std::string_view(name));
  if (found != functions.end()) return found->second;
  return functions[name] = unsupported_functions({name}).front();
}

// What NCCL before 2.21 asks libcuda.so for by name; all else it gets from there.
// NOLINTBEGIN(readability-identifier-naming): the names are CUDA's.
extern "C" {

int cudaDriverGetVersion(int* version);  // runtime_devices.cpp

int cuInit(unsigned /*flags*/) { return kSuccess; }

int cuDriverGetVersion(int* version) { return cudaDriverGetVersion(version); }

int cuGetProcAddress(const char* name, void** function, int /*version*/, unsigned long long /*flags*/) {
  *function = driver_function(name);
  return kSuccess;
}

}  // extern "C"
// NOLINTEND(readability-identifier-naming)

}  // namespace collbench::simulated_gpu
