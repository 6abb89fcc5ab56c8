#pragma once
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.hpp"
#include "base/record/probe.hpp"
#include "collectives/nccl/probe/gpu_team.hpp"

namespace collbench::collectives {

/// The kinds of work, as options and records call them; the usual ones, and all of them.
[[nodiscard]] std::vector<std::string> usual_gpu_probe_ids();
[[nodiscard]] std::vector<std::string> gpu_probe_ids();

/// What of a host's GPUs is measured.
struct GpuProbe {
  std::vector<std::string> only;  ///< of gpu_probe_ids(); empty: the usual ones
  /// For each type of product: half of it for each of two sizes, in five windows. The first product warms up
  /// for a quarter of it before, each later one for a twentieth.
  double seconds = 20;
  double soak_seconds = 0;  ///< of one more product in BF16, in windows of the same length; 0: none
  /// Called when a kind of work begins: what it is, and how long all that follows may take.
  std::function<void(const std::string& what, double seconds_left)> began;
};

/// A measurement, and when its windows ran.
struct GpuMeasurement {
  ProbeMeasurement about;
  std::vector<std::vector<WindowSpan>> spans;  ///< by part, then window
};

struct GpuProbeResult {
  std::vector<ProbeGpu> gpus;  ///< without what only the driver knows: power limit, version
  std::vector<GpuMeasurement> measurements;
  std::vector<ProbeFailure> failures;
  std::vector<std::string> notes;  ///< what was not measured, and why
};

/// How long a window of a product is.
[[nodiscard]] double gpu_window_seconds(const GpuProbe& probe);

/// About how long it takes on a host with as many GPUs: what is timed and its warm-ups, without the time to
/// fill memory.
[[nodiscard]] double gpu_probe_seconds(const GpuProbe& probe, int gpus);

/// Measures all GPUs that CUDA shows this process: products and copies within their memory on all of them at
/// once, as in training; copies to and from the host, and between GPUs, one after the other in a fixed order.
/// A GPU that fails takes part in nothing more. Throws Error (not_here) where there is no GPU, no driver, or
/// a library is missing; without a cuBLASLt there is a note instead, unless nothing but products is wanted.
[[nodiscard]] GpuProbeResult probe_gpus(const GpuProbe& probe, const Clock& clock);

}  // namespace collbench::collectives
