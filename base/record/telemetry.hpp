#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/record/gpu_trouble.hpp"

namespace collbench {

/// A figure of a GPU that goes up and down, over all readings of a run.
struct Gauge {
  double before = 0;
  double least = 0;
  double most = 0;
  double after = 0;

  bool operator==(const Gauge&) const = default;
};

/// A counter of a GPU that only goes up.
struct CounterChange {
  std::uint64_t before = 0;
  std::uint64_t after = 0;

  bool operator==(const CounterChange&) const = default;
};

/// One GPU of the run. What its driver does not tell is none.
struct GpuTelemetry {
  std::string host;
  std::string uuid;
  std::string address;  ///< in PCI
  std::optional<Gauge> sm_clock_hertz;
  std::optional<Gauge> temperature_celsius;
  std::optional<Gauge> power_watts;
  std::optional<CounterChange> ecc_corrected;  ///< since the driver was loaded ("volatile"), as the next
  std::optional<CounterChange> ecc_uncorrected;
  std::optional<CounterChange> pcie_replays;
  std::vector<GpuTrouble> troubles;  ///< seen at any time of the run, whatever ran then

  bool operator==(const GpuTelemetry&) const = default;
};

/// How the GPUs of a run fared, by nvidia-smi on every host.
struct Telemetry {
  int readings = 0;  ///< of the host that has fewest
  std::vector<GpuTelemetry> gpus;
  std::vector<std::string> notes;  ///< what is not known, of which host and why

  bool operator==(const Telemetry&) const = default;
};

/// That a row ran while a GPU was in trouble.
struct RowMark {
  std::string host;
  std::string gpu;  ///< its UUID, or its PCI address where it has none
  GpuTrouble trouble = GpuTrouble::sw_power_cap;

  auto operator<=>(const RowMark&) const = default;
};

}  // namespace collbench
