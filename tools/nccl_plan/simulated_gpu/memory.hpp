#pragma once
#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>

#include "tools/nccl_plan/simulated_gpu/cuda_types.hpp"

// The simulated GPUs' memory: pages of this host in anonymous files (memfd), which other processes can map as
// they map another GPU's memory. Pages that nobody has written to take no room, and all go with the last
// process that maps them, however it ends.

namespace collbench::simulated_gpu {

enum class BlockKind {
  allocated,  ///< cudaMalloc
  mapped,     ///< cuMemMap
  host,       ///< cudaHostAlloc
  opened,     ///< cudaIpcOpenMemHandle
};

/// A stretch of addresses that belongs to one call.
struct MemoryBlock {
  std::uintptr_t address = 0;
  std::size_t bytes = 0;
  BlockKind kind = BlockKind::allocated;
  int device = 0;
};

class MemoryBlocks {
 public:
  void add(const MemoryBlock& block);
  /// The block that begins at `address`, which is then forgotten.
  std::optional<MemoryBlock> remove(const void* address);
  [[nodiscard]] std::optional<MemoryBlock> find(const void* address) const;
  [[nodiscard]] std::size_t allocated_bytes() const;

 private:
  mutable std::mutex mutex_;
  std::map<std::uintptr_t, MemoryBlock> blocks_;
  std::size_t allocated_bytes_ = 0;
};

/// What cudaMalloc gives: parts of one large sparse file. Addresses are not used twice, which 1 TiB of them
/// allows.
class DeviceArena {
 public:
  /// Throws std::bad_alloc when the system refuses.
  DeviceArena();
  DeviceArena(const DeviceArena&) = delete;
  DeviceArena& operator=(const DeviceArena&) = delete;
  DeviceArena(DeviceArena&&) = delete;
  DeviceArena& operator=(DeviceArena&&) = delete;
  ~DeviceArena();

  /// Null when the addresses are used up.
  [[nodiscard]] void* allocate(std::size_t bytes);
  /// Gives back the pages that lie in the block as a whole.
  void release(void* address, std::size_t bytes);

  [[nodiscard]] int file() const { return file_; }
  [[nodiscard]] std::size_t offset_of(const void* address) const;

 private:
  int file_ = -1;
  std::byte* base_ = nullptr;
  std::mutex mutex_;
  std::size_t used_ = 0;
};

/// Memory behind a handle (cuMemCreate, cuMulticastCreate): a file of its own.
struct MemoryHandle {
  MemoryHandle(int opened_file, std::size_t size, const CudaAllocationProperties& asked)
      : file(opened_file), bytes(size), properties(asked) {}
  MemoryHandle(const MemoryHandle&) = delete;
  MemoryHandle& operator=(const MemoryHandle&) = delete;
  MemoryHandle(MemoryHandle&&) = delete;
  MemoryHandle& operator=(MemoryHandle&&) = delete;
  ~MemoryHandle();

  int file;
  std::size_t bytes;
  CudaAllocationProperties properties;
};

/// Handles and what is mapped of them. A handle lives until it has been released as often as it was given
/// out, and unmapped.
class MemoryHandles {
 public:
  /// Null when the system refuses.
  MemoryHandle* create(std::size_t bytes, const CudaAllocationProperties& properties);
  /// A handle for another process's; takes a copy of `file`. Null when it is no open file.
  MemoryHandle* import(int file, int device, int handle_type);
  /// Another reference to what is mapped at `block`; null when nothing is.
  MemoryHandle* retain(std::uintptr_t block);
  void release(MemoryHandle* handle);
  void map(std::uintptr_t block, MemoryHandle* handle);
  void unmap(std::uintptr_t block);

 private:
  MemoryHandle* keep(std::shared_ptr<MemoryHandle> handle);

  std::mutex mutex_;
  std::multimap<MemoryHandle*, std::shared_ptr<MemoryHandle>> given_;
  std::map<std::uintptr_t, std::shared_ptr<MemoryHandle>> mapped_;
};

/// As memset; pages of anonymous files that become 0 are given back instead of written.
void set_memory(void* address, int value, std::size_t bytes);

[[nodiscard]] constexpr std::size_t rounded_up(std::size_t number, std::size_t unit) {
  return (number + unit - 1) / unit * unit;
}

inline constexpr std::size_t kPageBytes = 4096;
/// What CUDA's own handles are multiples of.
inline constexpr std::size_t kGranularityBytes = std::size_t{2} << 20U;

}  // namespace collbench::simulated_gpu
