#pragma once
#include <memory>
#include <string>

#include "topology/telemetry/gpu_reading.hpp"

namespace collbench::topology {

/// Where the driver puts NVML: a soname, which the loader looks up.
inline constexpr const char* kNvmlLibrary = "libnvidia-ml.so.1";

/// Reads GPUs with NVML, inside this process. Nothing is loaded before the first reading. NVML has no
/// timeouts of its own: a reading (the first one loads and initializes it) that takes longer than
/// `timeout_seconds` is an Error, and its thread is left behind: the measurement does not wait for it. The
/// end of the process may: a thread in an uninterruptible call of the driver (state D) cannot be ended, not
/// by SIGKILL either, and the process is not gone before that call returns. A GPU that is lost, that this
/// user may not use or whose PCI address cannot be read is left out of the reading; that no other is left is
/// an Error.
[[nodiscard]] std::unique_ptr<GpuReader> make_nvml_reader(std::string library = kNvmlLibrary,
                                                          double timeout_seconds = 8);

}  // namespace collbench::topology
