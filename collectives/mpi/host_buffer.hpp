#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <span>

namespace collbench {

/// Page-aligned host memory, untouched until it is written. operator new, because SimGrid's MPI header makes
/// macros of malloc and free.
class HostBuffer {
 public:
  HostBuffer() = default;
  /// Throws std::bad_alloc.
  explicit HostBuffer(std::uint64_t bytes)
      : bytes_(bytes),
        memory_(bytes == 0 ? nullptr : static_cast<std::byte*>(::operator new(bytes, kAlignment))) {}

  [[nodiscard]] std::byte* data() const { return memory_.get(); }
  [[nodiscard]] std::uint64_t size() const { return bytes_; }
  /// `length` bytes from `offset` on.
  [[nodiscard]] std::span<std::byte> part(std::uint64_t offset, std::uint64_t length) const {
    return {memory_.get() + offset, length};
  }

 private:
  static constexpr std::align_val_t kAlignment{4096};
  struct Delete {
    void operator()(std::byte* memory) const { ::operator delete(memory, kAlignment); }
  };

  std::uint64_t bytes_ = 0;
  std::unique_ptr<std::byte, Delete> memory_;
};

}  // namespace collbench
