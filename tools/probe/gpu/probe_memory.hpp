#pragma once
#include <cstddef>
#include <cstdint>

#include "base/record/data_type.hpp"
#include "tools/probe/gpu/gpu_team.hpp"

namespace collbench::collectives {

/// Memory of the current GPU. Throws GpuRefusal where there is not enough, Error for a GPU that fails.
[[nodiscard]] DeviceBuffer probe_memory(const CudaLibrary& cuda, std::uint64_t bytes);

/// Pinned memory of the host.
class PinnedBuffer {
 public:
  /// Throws GpuRefusal where there is not enough, Error for a GPU that fails.
  PinnedBuffer(const CudaLibrary& cuda, std::uint64_t bytes);
  PinnedBuffer(const PinnedBuffer&) = delete;
  PinnedBuffer& operator=(const PinnedBuffer&) = delete;
  PinnedBuffer(PinnedBuffer&&) = delete;
  PinnedBuffer& operator=(PinnedBuffer&&) = delete;
  ~PinnedBuffer() { cuda_.host_free(memory_); }

  [[nodiscard]] std::byte* data() const { return memory_; }

 private:
  const CudaLibrary& cuda_;
  std::byte* memory_ = nullptr;
};

/// CudaLibrary::check for a kernel of ours; GpuRefusal where the kernel library was not built for such a GPU,
/// or for a newer driver.
void check_kernel(const CudaLibrary& cuda, CudaResult result, const char* what);

/// Puts on the stream what fills the memory with normal numbers of a float `type`, and with another row of
/// them for each `seed`.
void fill_with_normal_numbers(const GpuLibraries& libraries, const DeviceBuffer& buffer, DataType type,
                              std::uint64_t seed, const CudaStream& stream);

}  // namespace collbench::collectives
