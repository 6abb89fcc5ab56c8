#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/record/telemetry.hpp"

namespace collbench::topology {

/// One GPU at one moment. What its driver does not tell is none.
struct GpuReading {
  std::string address;  ///< in PCI
  std::string uuid;
  std::optional<double> sm_clock_hertz;
  std::optional<double> temperature_celsius;
  std::optional<double> power_watts;
  std::optional<std::uint64_t> ecc_corrected;  ///< since the driver was loaded, as the next
  std::optional<std::uint64_t> ecc_uncorrected;
  std::optional<std::uint64_t> pcie_replays;
  std::vector<GpuTrouble> throttled_by;  ///< now; HW slowdown only where no closer reason is given
  /// How long each reason has held since the driver was loaded; newer drivers count it.
  std::map<GpuTrouble, double> throttled_seconds;
};

/// The GPUs of `nvidia-smi -q -x`: of its forms, the only one that has the PCIe replay counter, and that asks
/// old drivers (clocks_throttle_reasons) and new ones (clocks_event_reasons) in the same words. `file` stands
/// in errors. Throws Error (usage) with FILE:LINE.
[[nodiscard]] std::vector<GpuReading> read_nvidia_smi_telemetry(std::string_view text, std::string_view file);

}  // namespace collbench::topology
