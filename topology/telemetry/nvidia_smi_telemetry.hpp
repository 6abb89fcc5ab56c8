#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "topology/telemetry/gpu_reading.hpp"

namespace collbench::topology {

/// The GPUs of `nvidia-smi -q -x`: of its forms, the only one that has the PCIe replay counter, and that asks
/// old drivers (clocks_throttle_reasons) and new ones (clocks_event_reasons) in the same words. `file` is
/// named in errors. Throws Error (usage) with FILE:LINE.
[[nodiscard]] std::vector<GpuReading> read_nvidia_smi_telemetry(std::string_view text, std::string_view file);

/// Runs `program -q -x` (looked up on PATH) for each reading. Each is a child process of its own and not one
/// that repeats itself: which reasons hold is known at once, however the program buffers its output, and a
/// job that is killed leaves nothing behind that runs on. One takes up to 5 s where persistence mode is off.
[[nodiscard]] std::unique_ptr<GpuReader> make_nvidia_smi_reader(std::string program = "nvidia-smi",
                                                                double timeout_seconds = 8);

}  // namespace collbench::topology
