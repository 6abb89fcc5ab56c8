#pragma once
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/record/telemetry.hpp"

namespace collbench::topology {

/// One GPU at one moment, in the same units and words whichever source it comes from. What the driver does
/// not report is none.
struct GpuReading {
  TelemetrySource source = TelemetrySource::nvidia_smi;
  std::string address;  ///< in PCI
  std::string uuid;
  std::string model;   ///< "NVIDIA H100 80GB HBM3"
  std::string driver;  ///< its version
  std::optional<double> sm_clock_hertz;
  std::optional<double> temperature_celsius;
  std::optional<double> power_watts;           ///< instantaneous where the driver has it, else its average
  std::optional<double> power_limit_watts;     ///< that is enforced
  std::optional<std::uint64_t> ecc_corrected;  ///< since the driver was loaded ("volatile"), as the next
  std::optional<std::uint64_t> ecc_uncorrected;
  std::optional<std::uint64_t> pcie_replays;
  std::vector<GpuTrouble> throttled_by;  ///< now; HW slowdown only where no closer reason is given
  /// How long each reason has held since the driver was loaded; newer drivers count it.
  std::map<GpuTrouble, double> throttled_seconds;

  bool operator==(const GpuReading&) const = default;
};

/// `throttled_by`, given all reasons that are set. HW slowdown stands for either of the two hardware reasons
/// that follow it, and for more (nvml.h, nvmlClocksThrottleReasonHwSlowdown): it is left out where one of
/// them is given.
[[nodiscard]] inline std::vector<GpuTrouble> most_specific(std::set<GpuTrouble> reasons) {
  if (reasons.contains(GpuTrouble::hw_thermal_slowdown) ||
      reasons.contains(GpuTrouble::hw_power_brake_slowdown)) {
    reasons.erase(GpuTrouble::hw_slowdown);
  }
  return {reasons.begin(), reasons.end()};
}

/// Something that reads the GPUs of this host, again and again. Used by one thread at a time.
class GpuReader {
 public:
  GpuReader() = default;
  GpuReader(const GpuReader&) = delete;
  GpuReader& operator=(const GpuReader&) = delete;
  virtual ~GpuReader() = default;

  /// What is asked, as messages name it: "NVML", "nvidia-smi -q -x".
  [[nodiscard]] virtual std::string name() const = 0;

  /// All GPUs, at least one. Throws Error when the source is missing, fails or does not answer within
  /// `seconds`, or within a shorter time of its own.
  [[nodiscard]] virtual std::vector<GpuReading> read_within(double seconds) = 0;
  [[nodiscard]] std::vector<GpuReading> read() {
    return read_within(std::numeric_limits<double>::infinity());
  }
};

}  // namespace collbench::topology
