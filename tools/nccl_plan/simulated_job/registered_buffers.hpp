#pragma once
#include <algorithm>
#include <map>
#include <mutex>
#include <utility>

namespace collbench::collectives {

/// What NCCL has registered, with which communicator. Real memory that is freed meanwhile leaves NCCL with an
/// address that is no longer its owner's, and says nothing.
class RegisteredBuffers {
 public:
  /// `handle` is NCCL's; null: it accepted the buffer and registered nothing.
  void add(const void* communicator, const void* handle, const void* buffer) {
    const std::lock_guard lock(mutex_);
    if (handle != nullptr) all_[{communicator, handle}] = buffer;
  }
  void remove(const void* communicator, const void* handle) {
    const std::lock_guard lock(mutex_);
    all_.erase({communicator, handle});
  }
  /// At a communicator's end.
  void remove_all(const void* communicator) {
    const std::lock_guard lock(mutex_);
    std::erase_if(all_, [&](const auto& each) { return each.first.first == communicator; });
  }
  [[nodiscard]] bool has(const void* buffer) const {
    const std::lock_guard lock(mutex_);
    return std::any_of(all_.begin(), all_.end(), [&](const auto& each) { return each.second == buffer; });
  }

 private:
  mutable std::mutex mutex_;
  std::map<std::pair<const void*, const void*>, const void*> all_;
};

}  // namespace collbench::collectives
