#pragma once
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/record/probe.hpp"
#include "tools/probe/gpu/gpu_probe_plan.hpp"

namespace collbench::collectives {

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

/// Measures all GPUs that CUDA shows this process: products and copies within their memory on all of them at
/// once, as in training; copies to and from the host, and between GPUs, one after the other in a fixed order.
/// A GPU that fails takes part in nothing more. Throws Error (not_here) where there is no GPU, no driver, or
/// a library is missing; without a cuBLASLt there is a note instead, unless nothing but products is wanted.
[[nodiscard]] GpuProbeResult probe_gpus(const GpuProbe& probe, const Clock& clock);

}  // namespace collbench::collectives
