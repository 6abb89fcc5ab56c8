#include "collectives/nccl/gpu_memory_use.hpp"

#include <utility>

namespace collbench::collectives {

GpuMemoryUse::GpuMemoryUse(std::function<std::optional<std::uint64_t>()> free_bytes)
    : free_bytes_(std::move(free_bytes)) {
  if (free_bytes_) free_ = free_bytes_();
}

void GpuMemoryUse::begin_pass() {
  if (pass_ != Pass::before || !free_) return;
  pass_ = Pass::first;
  bytes_.emplace();
  count(&GpuMemory::init_bytes);
}

void GpuMemoryUse::count(std::int64_t GpuMemory::* what) {
  if (pass_ != Pass::first || !bytes_) return;
  const std::optional<std::uint64_t> before = std::exchange(free_, free_bytes_());
  if (free_) {
    (*bytes_).*what += static_cast<std::int64_t>(*before) - static_cast<std::int64_t>(*free_);
  } else {
    bytes_.reset();
  }
}

void GpuMemoryUse::end_pass() {
  count(&GpuMemory::collective_bytes);
  if (pass_ == Pass::first) pass_ = Pass::over;
}

}  // namespace collbench::collectives
