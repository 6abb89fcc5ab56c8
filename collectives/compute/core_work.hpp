#pragma once
#include <algorithm>
#include <cstddef>
#include <functional>
#include <memory>
#include <new>
#include <span>

namespace collbench::collectives {

/// Does a piece of work and returns how much it was, in flop or bytes. A piece should be far shorter than a
/// window: one ends with the first piece that is done after its time.
using CoreWork = std::function<double()>;

inline constexpr std::size_t kCacheLineBytes = 64;

/// Memory that begins at a line of the cache, touched by who makes it.
template <typename Number>
class AlignedArray {
 public:
  AlignedArray(std::size_t count, Number value)
      : memory_(new(std::align_val_t(kCacheLineBytes)) Number[count]), count_(count) {
    std::fill_n(memory_.get(), count, value);
  }
  [[nodiscard]] std::span<Number> span() const { return {memory_.get(), count_}; }
  [[nodiscard]] Number* data() const { return memory_.get(); }

 private:
  struct Delete {
    void operator()(Number* memory) const { ::operator delete[](memory, std::align_val_t(kCacheLineBytes)); }
  };
  std::unique_ptr<Number, Delete> memory_;
  std::size_t count_;
};

}  // namespace collbench::collectives
