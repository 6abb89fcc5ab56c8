#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "collectives/nccl/cuda_handles.hpp"
#include "collectives/nccl/loader/cublas_lt_library.hpp"
#include "collectives/nccl/loader/cuda_library.hpp"
#include "collectives/nccl/loader/own_libraries.hpp"

namespace collbench::collectives {

struct GpuLibraries {
  const CudaLibrary& cuda;
  const KernelLibrary& kernels;
  const CublasLtLibrary* cublas_lt = nullptr;  ///< null: no product is wanted, or there is none
};

/// What is put on a GPU's stream over and over.
struct GpuWork {
  std::function<void(const CudaStream&)> put;     ///< keeps the memory that it works on
  double amount = 0;                              ///< flop or bytes of one
  std::function<void(const CudaStream&)> fill{};  ///< put once, before the first; may be empty
  /// Device memory that each one writes, with the same bits every time; none: it does not say.
  const DeviceBuffer* result = nullptr;
};

/// That a GPU or a library does not do this kind of work; no failure.
struct GpuRefusal {
  std::string why;
};

/// When a GPU's work is timed: `windows` of them, one after the other, after a warm-up.
struct GpuTiming {
  double warm_up_seconds = 5;
  double window_seconds = 2;
  int windows = 5;
  double timeout_seconds = 60;  ///< a GPU that makes no progress for so long has failed
};

/// From when to when a window ran, by the probe's clock.
struct WindowSpan {
  double begin = 0;
  double end = 0;
};

struct GpuRates {
  std::vector<double> windows;         ///< per second, by the GPU's own events
  std::vector<WindowSpan> spans;       ///< one for each window
  std::vector<std::uint64_t> results;  ///< digests of GpuWork::result, before the windows and after them
  std::string refused;                 ///< why it does not do such work; empty: it does
  std::string failure;                 ///< what stopped it, in CUDA's words; empty: nothing
  bool timed_out = false;              ///< that is the timeout: its memory was not freed, nor can be
};

/// A thread for each of `devices` (CUDA's indices), bound to the processors near it, makes its work
/// (`make_work`, which may throw GpuRefusal, with the GPU as the current one) and puts it on a stream over
/// and over, two pieces ahead so that the GPU never waits. All begin at the same time. By device. `make_work`
/// gets the index in `devices`, and waits for nothing that is put on a stream: GpuWork::fill is for that.
[[nodiscard]] std::vector<GpuRates> run_on_gpus(const GpuLibraries& libraries,
                                                const std::vector<int>& devices, const Clock& clock,
                                                const GpuTiming& timing,
                                                const std::function<GpuWork(std::size_t index)>& make_work);

/// That a GPU of this process timed out. CUDA's handlers at the end of the process may wait for it forever,
/// however the process comes to its end.
[[nodiscard]] bool has_stuck_gpu();

/// Whether the kernel names processors near the GPU, and the calling thread may run on none of them: memory
/// that it pins may be far.
[[nodiscard]] bool is_kept_far(const CudaLibrary& cuda, int device);

}  // namespace collbench::collectives
