#pragma once
#include <cstdint>
#include <functional>
#include <optional>

#include "base/record/run.hpp"

namespace collbench::collectives {

/// What takes a GPU's memory, by what is free before and after, as nccl-tests 2.19.6 tells it with -M
/// (src/common.cu). NCCL's counts from before its first call on, which loads its kernels; that of buffers and
/// calls in the first pass over all rows.
class GpuMemoryUse {
 public:
  /// `free_bytes` of this rank's GPU now; none: not known, and then nothing is. Null: nobody asks.
  explicit GpuMemoryUse(std::function<std::optional<std::uint64_t>()> free_bytes);

  /// The first pass begins: what was taken until now is of NCCL's init. Later ones change nothing.
  void begin_pass();
  /// In the first pass: what was taken since the last look was for `what`.
  void count(std::int64_t GpuMemory::* what);
  /// The first pass is over: what was taken since the last look was for the calls.
  void end_pass();

  /// None: not asked for, not known, or before the first pass.
  [[nodiscard]] std::optional<GpuMemory> bytes() const { return bytes_; }

 private:
  enum class Pass { before, first, over };

  std::function<std::optional<std::uint64_t>()> free_bytes_;
  Pass pass_ = Pass::before;
  std::optional<std::uint64_t> free_;  // at the last look
  std::optional<GpuMemory> bytes_;
};

}  // namespace collbench::collectives
