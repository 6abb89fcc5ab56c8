// CUDA's runtime: memory. Names and signatures are CUDA's (cuda_runtime_api.h).
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <string>

#include "base/files.hpp"
#include "tools/nccl_plan/simulated_gpu/cuda_types.hpp"
#include "tools/nccl_plan/simulated_gpu/devices.hpp"
#include "tools/nccl_plan/simulated_gpu/process.hpp"

namespace collbench::simulated_gpu {
namespace {

/// What a CUDA IPC handle says: which part of whose memory.
struct SharedPart {
  pid_t process;
  int file;
  std::size_t offset;
  std::size_t bytes;
};
static_assert(sizeof(SharedPart) <= sizeof(CudaIpcHandle));

std::uintptr_t address_number(const void* address) { return reinterpret_cast<std::uintptr_t>(address); }

/// What cudaMalloc has taken goes back once nothing runs that might use it.
int free_block(void* address) {
  SimulatedProcess& process = simulated_process();
  const auto block = process.blocks.remove(address);
  if (!block) return kInvalidValue;
  process.arena.release(address, block->bytes);
  return kSuccess;
}

}  // namespace

// NOLINTBEGIN(readability-identifier-naming): the names are CUDA's.
extern "C" {

int cudaMemGetInfo(std::size_t* free, std::size_t* total) {
  const SimulatedProcess& process = simulated_process();
  *total = process.memory_bytes;
  *free = *total - std::min(*total, process.blocks.allocated_bytes());
  return kSuccess;
}

int cudaMalloc(void** address, std::size_t bytes) {
  SimulatedProcess& process = simulated_process();
  *address = process.arena.allocate(bytes);
  if (*address == nullptr) return kOutOfMemory;
  process.blocks.add({address_number(*address), bytes, BlockKind::allocated, current_device()});
  return kSuccess;
}

int cudaFree(void* address) {
  if (address == nullptr) return kSuccess;
  simulated_process().streams.wait_for_all();
  return free_block(address);
}

int cudaMallocAsync(void** address, std::size_t bytes, void* /*stream*/) {
  return cudaMalloc(address, bytes);
}

int cudaMallocFromPoolAsync(void** address, std::size_t bytes, void* /*pool*/, void* /*stream*/) {
  return cudaMalloc(address, bytes);
}

int cudaFreeAsync(void* address, void* stream) {
  simulated_process().streams.of(stream).put_brief([address] { free_block(address); });
  return kSuccess;
}

int cudaMemPoolCreate(void** pool, const void* /*properties*/) {
  *pool = std::make_unique<char>().release();
  return kSuccess;
}

int cudaMemPoolDestroy(void* pool) {
  const std::unique_ptr<char> destroyed(static_cast<char*>(pool));
  return kSuccess;
}

int cudaMemPoolSetAttribute(void* /*pool*/, int /*attribute*/, void* /*value*/) { return kSuccess; }

int cudaHostAlloc(void** address, std::size_t bytes, unsigned /*flags*/) {
  void* const taken = ::mmap(nullptr, std::max<std::size_t>(bytes, 1), PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (taken == MAP_FAILED) return kOutOfMemory;
  *address = taken;
  simulated_process().blocks.add(
      {address_number(taken), std::max<std::size_t>(bytes, 1), BlockKind::host, current_device()});
  return kSuccess;
}

int cudaMallocHost(void** address, std::size_t bytes) { return cudaHostAlloc(address, bytes, 0); }

int cudaFreeHost(void* address) {
  if (address == nullptr) return kSuccess;
  const auto block = simulated_process().blocks.remove(address);
  if (!block) return kInvalidValue;
  ::munmap(address, block->bytes);
  return kSuccess;
}

int cudaHostRegister(void* /*address*/, std::size_t /*bytes*/, unsigned /*flags*/) { return kSuccess; }
int cudaHostUnregister(void* /*address*/) { return kSuccess; }

int cudaHostGetDevicePointer(void** device_address, void* address, unsigned /*flags*/) {
  *device_address = address;
  return kSuccess;
}

int cudaMemcpy(void* to, const void* from, std::size_t bytes, int /*kind*/) {
  std::memcpy(to, from, bytes);
  return kSuccess;
}

int cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, int /*kind*/, void* stream) {
  simulated_process().streams.of(stream).put_brief([=] { std::memcpy(to, from, bytes); });
  return kSuccess;
}

int cudaMemcpyBatchAsync(void** to, void** from, std::size_t* bytes, std::size_t count, void* /*attributes*/,
                         std::size_t* /*indices*/, std::size_t /*attribute_count*/, void* stream) {
  for (std::size_t i = 0; i < count; ++i) cudaMemcpyAsync(to[i], from[i], bytes[i], 0, stream);
  return kSuccess;
}

int cudaMemset(void* to, int value, std::size_t bytes) {
  set_memory(to, value, bytes);
  return kSuccess;
}

int cudaMemsetAsync(void* to, int value, std::size_t bytes, void* stream) {
  simulated_process().streams.of(stream).put_brief([=] { set_memory(to, value, bytes); });
  return kSuccess;
}

int cudaPointerGetAttributes(CudaPointerAttributes* attributes, const void* address) {
  const auto block = simulated_process().blocks.find(address);
  *attributes = {kUnregistered, -2, const_cast<void*>(address), nullptr};
  if (!block) return kSuccess;
  attributes->device = block->device;
  attributes->type = block->kind == BlockKind::host ? kHost : kDevice;
  if (block->kind == BlockKind::host) attributes->host_pointer = const_cast<void*>(address);
  return kSuccess;
}

int cudaIpcGetMemHandle(CudaIpcHandle* handle, void* address) {
  const SimulatedProcess& process = simulated_process();
  const auto block = process.blocks.find(address);
  if (!block || block->kind != BlockKind::allocated) return kInvalidValue;
  const SharedPart part{::getpid(), process.arena.file(),
                        process.arena.offset_of(reinterpret_cast<const void*>(block->address)), block->bytes};
  *handle = {};
  std::memcpy(handle->reserved.data(), &part, sizeof part);
  return kSuccess;
}

int cudaIpcOpenMemHandle(void** address, CudaIpcHandle handle, unsigned /*flags*/) {
  SharedPart part{};
  std::memcpy(&part, handle.reserved.data(), sizeof part);
  const std::string path = "/proc/" + std::to_string(part.process) + "/fd/" + std::to_string(part.file);
  const FileDescriptor file(::open(path.c_str(), O_RDWR | O_CLOEXEC));
  const std::size_t page = part.offset / kPageBytes * kPageBytes;
  const std::size_t before = part.offset - page;
  void* const mapped = ::mmap(nullptr, before + part.bytes, PROT_READ | PROT_WRITE,
                              MAP_SHARED | MAP_NORESERVE, file.get(), static_cast<off_t>(page));
  if (mapped == MAP_FAILED) return kInvalidValue;
  *address = static_cast<std::byte*>(mapped) + before;
  simulated_process().blocks.add({address_number(*address), part.bytes, BlockKind::opened, current_device()});
  return kSuccess;
}

int cudaIpcCloseMemHandle(void* address) {
  const auto block = simulated_process().blocks.remove(address);
  if (!block) return kInvalidValue;
  const std::uintptr_t page = block->address / kPageBytes * kPageBytes;
  ::munmap(reinterpret_cast<void*>(page), block->address - page + block->bytes);
  return kSuccess;
}

}  // extern "C"
// NOLINTEND(readability-identifier-naming)

}  // namespace collbench::simulated_gpu
