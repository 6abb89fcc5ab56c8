#pragma once
#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

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
inline constexpr std::array<std::string_view, 9> kGpuTroubleNames{
    "SW power cap",        "HW slowdown", "HW thermal slowdown",  "HW power brake slowdown",
    "SW thermal slowdown", "sync boost",  "corrected ECC errors", "uncorrected ECC errors",
    "PCIe replays"};

[[nodiscard]] constexpr std::string_view name(GpuTrouble trouble) {
  return kGpuTroubleNames.at(static_cast<std::size_t>(trouble));
}

/// Whether it is a reason for lower clocks, and no counter of errors.
[[nodiscard]] constexpr bool is_throttling(GpuTrouble trouble) {
  return static_cast<std::size_t>(trouble) < kClockTroubles;
}

[[nodiscard]] inline std::optional<GpuTrouble> find_gpu_trouble(std::string_view name) {
  const auto* const found = std::find(kGpuTroubleNames.begin(), kGpuTroubleNames.end(), name);
  if (found == kGpuTroubleNames.end()) return std::nullopt;
  return static_cast<GpuTrouble>(found - kGpuTroubleNames.begin());
}

}  // namespace collbench
