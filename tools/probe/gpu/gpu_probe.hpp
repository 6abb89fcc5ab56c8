#pragma once
#include <array>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.hpp"
#include "base/record/probe.hpp"
#include "tools/probe/gpu/gpu_team.hpp"

// What of a host's GPUs is measured, and for how long.

namespace collbench::collectives {

struct GpuProbeResult;

struct GpuProbe {
  std::vector<std::string> only;  ///< of gpu_probe_ids(); empty: the usual ones
  /// For each type of product: half of it for each of two sizes, in five windows. The first product warms up
  /// for a quarter of it before, each later one for a twentieth.
  double seconds = 20;
  double soak_seconds = 0;  ///< of one more product in BF16, in windows of the same length; 0: none
  /// A GPU that makes no progress for so long has failed. The usual one is longer than a product of 8,192³ in
  /// FP64 (1.1 Tflop) takes where FP64 runs at 1/64 of FP32: 16 s by the data sheet of NVIDIA A2 (4.5 TFLOP/s
  /// in FP32). Larger products are left out where one would take a quarter of it.
  double timeout_seconds = 60;
  /// Called when a kind of work begins: what it is, and how long all that follows may take.
  std::function<void(const std::string& what, double seconds_left)> began;
  /// Called when one has ended: all that there is by now.
  std::function<void(const GpuProbeResult& so_far)> ended;
};

inline constexpr std::string_view kGpuHbmCopy = "gpu-hbm-copy";
inline constexpr std::string_view kGpuHbmTriad = "gpu-hbm-triad";
inline constexpr std::string_view kHostToGpu = "gpu-h2d";
inline constexpr std::string_view kGpuToHost = "gpu-d2h";
inline constexpr std::string_view kGpuPeer = "gpu-peer";

/// Sides of products. 8,192³ reaches 93 % of the FP8 rate of 32,768³ on H100, 16,384³ all of it
/// (Azure/AI-benchmarking-guide).
inline constexpr std::array kGpuProductSizes{8192, 16384};

/// The kinds of work, as options and records call them; the usual ones, and all of them.
[[nodiscard]] std::vector<std::string> usual_gpu_probe_ids();
[[nodiscard]] std::vector<std::string> gpu_probe_ids();

[[nodiscard]] bool is_wanted(const GpuProbe& probe, std::string_view id);
/// Whether anything that cuBLASLt does is wanted; anything else.
[[nodiscard]] bool wants_products(const GpuProbe& probe);
[[nodiscard]] bool wants_copies(const GpuProbe& probe);

[[nodiscard]] GpuTiming product_timing(const GpuProbe& probe, bool is_first);
[[nodiscard]] GpuTiming memory_timing(const GpuProbe& probe);
[[nodiscard]] GpuTiming link_timing(const GpuProbe& probe);
[[nodiscard]] GpuTiming soak_timing(const GpuProbe& probe);

/// The warm-up and all windows.
[[nodiscard]] double total_seconds(const GpuTiming& timing);

/// A product that takes longer is left out: two windows; and two of them, which is what a stream has ahead,
/// are far from the timeout.
[[nodiscard]] double longest_product_seconds(const GpuProbe& probe);

/// How long a window of a product is.
[[nodiscard]] double gpu_window_seconds(const GpuProbe& probe);

/// About how long it takes on a host with as many GPUs: what is timed and its warm-ups, without the time to
/// fill memory.
[[nodiscard]] double gpu_probe_seconds(const GpuProbe& probe, int gpus);

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

/// Measures all GPUs that CUDA shows this process: products and copies within their memory on all of them at
/// once, as in training; copies to and from the host, and between GPUs, one after the other in a fixed order.
/// A GPU that fails takes part in nothing more. Throws Error (not_here) where there is no GPU, no driver, or
/// a library is missing; without a cuBLASLt there is a note instead, unless nothing but products is wanted.
[[nodiscard]] GpuProbeResult probe_gpus(const GpuProbe& probe, const Clock& clock);

}  // namespace collbench::collectives
