#include "tools/nccl_plan/simulated_gpu/memory.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <new>

namespace collbench::simulated_gpu {
namespace {

constexpr std::size_t kArenaBytes = std::size_t{1} << 40U;
constexpr std::size_t kSmallUnit = 512;  // CUDA's allocations are at least 256-byte aligned

/// An anonymous file of `bytes`, none of which takes room yet; -1 when the system refuses.
int sparse_file(const char* name, std::size_t bytes) {
  const int file = ::memfd_create(name, MFD_CLOEXEC);
  if (file >= 0 && ::ftruncate(file, static_cast<off_t>(bytes)) != 0) {
    ::close(file);
    return -1;
  }
  return file;
}

/// What clear_pages left as it was, at either end.
struct ClearedPages {
  std::size_t bytes_before = 0;
  std::size_t bytes_after = 0;
};

/// Gives the whole pages among these bytes of an anonymous file back, so that they read as 0.
ClearedPages clear_pages(void* address, std::size_t bytes) {
  const auto begin = reinterpret_cast<std::uintptr_t>(address);
  const std::uintptr_t first_page = rounded_up(begin, kPageBytes);
  const std::uintptr_t last_page = (begin + bytes) / kPageBytes * kPageBytes;
  if (first_page >= last_page ||
      ::madvise(reinterpret_cast<void*>(first_page), last_page - first_page, MADV_REMOVE) != 0) {
    return {bytes, 0};
  }
  return {first_page - begin, begin + bytes - last_page};
}

}  // namespace

void MemoryBlocks::add(const MemoryBlock& block) {
  const std::lock_guard lock(mutex_);
  blocks_[block.address] = block;
  if (block.kind == BlockKind::allocated) allocated_bytes_ += block.bytes;
}

std::optional<MemoryBlock> MemoryBlocks::remove(const void* address) {
  const std::lock_guard lock(mutex_);
  const auto found = blocks_.find(reinterpret_cast<std::uintptr_t>(address));
  if (found == blocks_.end()) return std::nullopt;
  const MemoryBlock block = found->second;
  blocks_.erase(found);
  if (block.kind == BlockKind::allocated) allocated_bytes_ -= block.bytes;
  return block;
}

std::optional<MemoryBlock> MemoryBlocks::find(const void* address) const {
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  const std::lock_guard lock(mutex_);
  const auto after = blocks_.upper_bound(at);
  if (after == blocks_.begin()) return std::nullopt;
  const MemoryBlock& block = std::prev(after)->second;
  if (at - block.address >= std::max<std::size_t>(block.bytes, 1)) return std::nullopt;
  return block;
}

std::size_t MemoryBlocks::allocated_bytes() const {
  const std::lock_guard lock(mutex_);
  return allocated_bytes_;
}

DeviceArena::DeviceArena() : file_(sparse_file("simulated GPU memory", kArenaBytes)) {
  if (file_ < 0) throw std::bad_alloc();
  void* const base =
      ::mmap(nullptr, kArenaBytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, file_, 0);
  if (base == MAP_FAILED) {
    ::close(file_);
    throw std::bad_alloc();
  }
  base_ = static_cast<std::byte*>(base);
}

DeviceArena::~DeviceArena() {
  ::munmap(base_, kArenaBytes);
  ::close(file_);
}

void* DeviceArena::allocate(std::size_t bytes) {
  const std::size_t unit = bytes >= kGranularityBytes ? kGranularityBytes : kSmallUnit;
  const std::lock_guard lock(mutex_);
  const std::size_t begin = rounded_up(used_, unit);
  const std::size_t taken = rounded_up(std::max<std::size_t>(bytes, 1), unit);
  if (taken < bytes || begin > kArenaBytes || taken > kArenaBytes - begin) return nullptr;
  used_ = begin + taken;
  return base_ + begin;
}

void DeviceArena::release(void* address, std::size_t bytes) { clear_pages(address, bytes); }

std::size_t DeviceArena::offset_of(const void* address) const {
  return static_cast<std::size_t>(static_cast<const std::byte*>(address) - base_);
}

void set_memory(void* address, int value, std::size_t bytes) {
  if (value != 0) {
    std::memset(address, value, bytes);
    return;
  }
  const ClearedPages cleared = clear_pages(address, bytes);
  std::memset(address, 0, cleared.bytes_before);
  std::memset(static_cast<std::byte*>(address) + (bytes - cleared.bytes_after), 0, cleared.bytes_after);
}

MemoryHandle::~MemoryHandle() { ::close(file); }

MemoryHandle* MemoryHandles::keep(std::shared_ptr<MemoryHandle> handle) {
  const std::lock_guard lock(mutex_);
  MemoryHandle* const key = handle.get();
  given_.emplace(key, std::move(handle));
  return key;
}

MemoryHandle* MemoryHandles::create(std::size_t bytes, const CudaAllocationProperties& properties) {
  const int file = sparse_file("simulated GPU memory of a handle", bytes);
  return file < 0 ? nullptr : keep(std::make_shared<MemoryHandle>(file, bytes, properties));
}

MemoryHandle* MemoryHandles::import(int file, int device, int handle_type) {
  struct stat status{};
  if (::fstat(file, &status) != 0) return nullptr;
  const int copy = ::fcntl(file, F_DUPFD_CLOEXEC, 0);
  if (copy < 0) return nullptr;
  CudaAllocationProperties properties{};
  properties.type = kPinned;
  properties.handle_types = handle_type;
  properties.location_type = kOnDevice;
  properties.location = device;
  return keep(std::make_shared<MemoryHandle>(copy, static_cast<std::size_t>(status.st_size), properties));
}

MemoryHandle* MemoryHandles::retain(std::uintptr_t block) {
  std::shared_ptr<MemoryHandle> handle;
  {
    const std::lock_guard lock(mutex_);
    const auto found = mapped_.find(block);
    if (found == mapped_.end()) return nullptr;
    handle = found->second;
  }
  return keep(std::move(handle));
}

void MemoryHandles::release(MemoryHandle* handle) {
  const std::lock_guard lock(mutex_);
  const auto found = given_.find(handle);
  if (found != given_.end()) given_.erase(found);
}

void MemoryHandles::map(std::uintptr_t block, MemoryHandle* handle) {
  const std::lock_guard lock(mutex_);
  const auto found = given_.find(handle);
  if (found != given_.end()) mapped_[block] = found->second;
}

void MemoryHandles::unmap(std::uintptr_t block) {
  const std::lock_guard lock(mutex_);
  mapped_.erase(block);
}

}  // namespace collbench::simulated_gpu
