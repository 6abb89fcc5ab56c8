#include "topology/telemetry_log.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace collbench {
namespace {

/// Of the time between two readings. A row's time is a median of blocks: what held for less moves none.
constexpr double kLeastShare = 0.01;

void widen(std::optional<Gauge>& gauge, const std::optional<double>& value) {
  if (!value) return;
  if (!gauge) gauge = Gauge{*value, *value, *value, *value};
  gauge->least = std::min(gauge->least, *value);
  gauge->most = std::max(gauge->most, *value);
  gauge->after = *value;
}

/// Whether it went up since the last reading. It starts anew when the driver is loaded anew.
bool count(std::optional<CounterChange>& counter, const std::optional<std::uint64_t>& value) {
  if (!value) return false;
  const bool went_up = counter && *value > counter->after;
  if (!counter) counter = CounterChange{*value, *value};
  counter->after = *value;
  return went_up;
}

}  // namespace

void TelemetryLog::mark(GpuTelemetry& gpu, GpuTrouble trouble, const RowSet& rows) {
  const auto at = std::lower_bound(gpu.troubles.begin(), gpu.troubles.end(), trouble);
  if (at == gpu.troubles.end() || *at != trouble) gpu.troubles.insert(at, trouble);
  const std::string& name = gpu.uuid.empty() ? gpu.address : gpu.uuid;
  for (const std::size_t row : rows) marks_[row].insert({"", name, trouble});
}

void TelemetryLog::add(const std::vector<GpuReading>& reading, const ReadingTime& time) {
  ++readings_;
  for (const GpuReading& now : reading) {
    auto gpu = std::find_if(gpus_.begin(), gpus_.end(),
                            [&](const GpuTelemetry& each) { return each.address == now.address; });
    if (gpu == gpus_.end()) {
      gpu = gpus_.emplace(gpus_.end());
      gpu->address = now.address;
      gpu->uuid = now.uuid;
    }
    widen(gpu->sm_clock_hertz, now.sm_clock_hertz);
    widen(gpu->temperature_celsius, now.temperature_celsius);
    widen(gpu->power_watts, now.power_watts);
    for (const GpuTrouble trouble : now.throttled_by) mark(*gpu, trouble, time.during);
    if (count(gpu->ecc_corrected, now.ecc_corrected)) mark(*gpu, GpuTrouble::ecc_corrected, time.since_last);
    if (count(gpu->ecc_uncorrected, now.ecc_uncorrected))
      mark(*gpu, GpuTrouble::ecc_uncorrected, time.since_last);
    if (count(gpu->pcie_replays, now.pcie_replays)) mark(*gpu, GpuTrouble::pcie_replays, time.since_last);
    const GpuReading& before = last_[now.address];
    for (const auto& [trouble, seconds] : now.throttled_seconds) {
      const auto earlier = before.throttled_seconds.find(trouble);
      if (earlier == before.throttled_seconds.end()) continue;
      const double held = seconds - earlier->second;
      if (held > 0 && held >= kLeastShare * time.seconds_since_last) mark(*gpu, trouble, time.since_last);
    }
    last_[now.address] = now;
  }
  for (const GpuTelemetry& gpu : gpus_) {
    const bool seen = std::any_of(reading.begin(), reading.end(),
                                  [&](const GpuReading& each) { return each.address == gpu.address; });
    if (seen || last_.erase(gpu.address) == 0) continue;
    note(fmt::format("nvidia-smi no longer shows GPU {}: see dmesg for Xid errors", gpu.address));
  }
}

}  // namespace collbench
