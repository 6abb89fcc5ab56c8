#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/record/fields.hpp"

namespace collbench {

/// What makes a GPU's figures less than the GPU could give. The first six are reasons for lower clocks
/// (nvml.h, nvmlClocksEventReasons); an idle GPU and clocks that somebody has set are none of them.
enum class GpuTrouble {
  sw_power_cap,
  hw_slowdown,
  hw_thermal_slowdown,
  hw_power_brake_slowdown,
  sw_thermal_slowdown,
  sync_boost,
  ecc_corrected,
  ecc_uncorrected,
  pcie_replays,
};

inline constexpr std::size_t kClockTroubles = 6;

/// As records and reports write them; nvidia-smi's words for the reasons.
template <>
inline constexpr std::array<std::string_view, 9> kWords<GpuTrouble>{
    "SW power cap",        "HW slowdown", "HW thermal slowdown",  "HW power brake slowdown",
    "SW thermal slowdown", "sync boost",  "corrected ECC errors", "uncorrected ECC errors",
    "PCIe replays"};

/// Whether it is a reason for lower clocks, and no counter of errors.
[[nodiscard]] constexpr bool is_throttling(GpuTrouble trouble) {
  return static_cast<std::size_t>(trouble) < kClockTroubles;
}

/// What a GPU's figures were read with: the library in the process, or the program where that cannot be used.
enum class TelemetrySource { nvml, nvidia_smi };

template <>
inline constexpr std::array<std::string_view, 2> kWords<TelemetrySource>{"NVML", "nvidia-smi"};

/// A figure of a GPU that goes up and down, over all readings of a run.
struct Gauge {
  double before = 0;
  double least = 0;
  double most = 0;
  double after = 0;

  bool operator==(const Gauge&) const = default;
};

/// A counter of errors of a host, before and after a run: of a NIC's port, a PCIe device, memory.
struct ErrorCount {
  std::string host;
  std::string counter;  ///< "mlx5_0/1 symbol_error"
  std::uint64_t before = 0;
  std::uint64_t after = 0;

  bool operator==(const ErrorCount&) const = default;
};

void each_field(auto& visit, Either<ErrorCount> auto& count) {
  visit("host", count.host);
  visit("counter", count.counter);
  visit("before", count.before);
  visit("after", count.after);
}

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
  TelemetrySource source = TelemetrySource::nvidia_smi;
  std::optional<Gauge> sm_clock_hertz;
  std::optional<Gauge> temperature_celsius;
  std::optional<Gauge> power_watts;
  std::optional<CounterChange> ecc_corrected;  ///< since the driver was loaded ("volatile"), as the next
  std::optional<CounterChange> ecc_uncorrected;
  std::optional<CounterChange> pcie_replays;
  std::vector<GpuTrouble> troubles;  ///< seen at any time of the run, whatever ran then

  bool operator==(const GpuTelemetry&) const = default;
};

/// How the GPUs of a run fared, by NVML or nvidia-smi on every host.
struct Telemetry {
  int readings = 0;  ///< of the host that has fewest
  std::vector<GpuTelemetry> gpus;
  std::vector<std::string> notes;  ///< by host: what is not known, or why not by NVML

  bool operator==(const Telemetry&) const = default;
};

/// That a row ran while a GPU was in trouble.
struct RowMark {
  std::string host;
  std::string gpu;  ///< its UUID, or its PCI address where it has none
  GpuTrouble trouble = GpuTrouble::sw_power_cap;

  auto operator<=>(const RowMark&) const = default;
};

inline constexpr NumberRange kCelsius{-273.15, 1e4, "degrees Celsius"};
inline constexpr const char* kTroubleWord = "the name of a GPU's trouble";

void each_field(auto& visit, Either<CounterChange> auto& counter) {
  visit("before", counter.before);
  visit("after", counter.after);
}

/// A gauge is visited with the range of its figure.
void each_field(auto& visit, Either<Gauge> auto& gauge, const NumberRange& range) {
  visit("before", gauge.before, range);
  visit("least", gauge.least, range);
  visit("most", gauge.most, range);
  visit("after", gauge.after, range);
}

void each_field(auto& visit, Either<GpuTelemetry> auto& gpu) {
  visit("host", gpu.host, RankHost{});
  visit("uuid", gpu.uuid);
  visit("address", gpu.address);
  visit.older("source", gpu.source, WordOf{kWords<TelemetrySource>, "NVML or nvidia-smi"});
  visit("sm_clock_hertz", gpu.sm_clock_hertz, kRate);
  visit("temperature_celsius", gpu.temperature_celsius, kCelsius);
  visit("power_watts", gpu.power_watts);
  visit("ecc_corrected", gpu.ecc_corrected);
  visit("ecc_uncorrected", gpu.ecc_uncorrected);
  visit("pcie_replays", gpu.pcie_replays);
  visit("troubles", gpu.troubles, WordOf{kWords<GpuTrouble>, kTroubleWord});
}

void each_field(auto& visit, Either<Telemetry> auto& telemetry) {
  visit("readings", telemetry.readings);
  visit("gpus", telemetry.gpus);
  visit("notes", telemetry.notes);
}

void each_field(auto& visit, Either<RowMark> auto& mark) {
  visit("host", mark.host, RankHost{});
  visit("gpu", mark.gpu);
  visit("trouble", mark.trouble, WordOf{kWords<GpuTrouble>, kTroubleWord});
}

}  // namespace collbench
