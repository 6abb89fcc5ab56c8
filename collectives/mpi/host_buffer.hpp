#pragma once
#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <span>

namespace collbench::collectives {

/// Page-aligned host memory of its own, zero and untouched until it is written. It comes from the operating
/// system and goes back there: taken from the allocator, it would decide where the MPI library's temporary
/// buffers come to lie, and with them how fast it is (docs/notes/benchmarks.md, "Where buffers lie").
class HostBuffer {
 public:
  HostBuffer() = default;
  /// Throws std::bad_alloc.
  explicit HostBuffer(std::uint64_t bytes) : memory_(map(bytes), Unmap{bytes}) {}

  [[nodiscard]] std::byte* data() const { return memory_.get(); }
  [[nodiscard]] std::uint64_t size() const { return memory_.get_deleter().bytes; }
  [[nodiscard]] std::span<std::byte> part(std::uint64_t offset, std::uint64_t length) const {
    return {memory_.get() + offset, length};
  }

 private:
  static std::byte* map(std::uint64_t bytes) {
    if (bytes == 0) return nullptr;
    void* const memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    return static_cast<std::byte*>(memory);
  }

  struct Unmap {
    std::uint64_t bytes;
    void operator()(std::byte* memory) const { ::munmap(memory, bytes); }
  };

  std::unique_ptr<std::byte, Unmap> memory_{nullptr, Unmap{0}};
};

}  // namespace collbench::collectives
