#include "topology/telemetry/telemetry_watch.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <stdexcept>
#include <utility>

namespace collbench::topology {
namespace {

/// Of the time between two readings. A row's time is a median of blocks: what held for less moves none.
constexpr double kMinShare = 0.01;

void widen(std::optional<Gauge>& gauge, const std::optional<double>& value) {
  if (!value) return;
  if (!gauge) gauge = Gauge{*value, *value, *value, *value};
  gauge->least = std::min(gauge->least, *value);
  gauge->most = std::max(gauge->most, *value);
  gauge->after = *value;
}

/// Whether it went up since the last reading. It is zero again after the driver was reloaded.
bool count(std::optional<CounterChange>& counter, const std::optional<std::uint64_t>& value) {
  if (!value) return false;
  const bool went_up = counter && *value > counter->after;
  if (!counter) counter = CounterChange{*value, *value};
  counter->after = *value;
  return went_up;
}

constexpr double kMaxShareOfTime = 0.1;  // that readings take

double seconds_from(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

void TelemetryLog::mark(GpuTelemetry& gpu, GpuTrouble trouble, const RowSet& rows) {
  const auto at = std::ranges::lower_bound(gpu.troubles, trouble);
  if (at == gpu.troubles.end() || *at != trouble) gpu.troubles.insert(at, trouble);
  const std::string& name = gpu.uuid.empty() ? gpu.address : gpu.uuid;
  for (const std::size_t row : rows) marks_[row].insert({"", name, trouble});
}

void TelemetryLog::add(const std::vector<GpuReading>& reading, const ReadingTime& time) {
  ++readings_;
  for (const GpuReading& now : reading) {
    auto gpu = std::ranges::find(gpus_, now.address, &GpuTelemetry::address);
    if (gpu == gpus_.end()) {
      gpu = gpus_.emplace(gpus_.end());
      gpu->address = now.address;
      gpu->source = now.source;
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
      if (held > 0 && held >= kMinShare * time.seconds_since_last) mark(*gpu, trouble, time.since_last);
    }
    last_[now.address] = now;
  }
  for (const GpuTelemetry& gpu : gpus_) {
    const bool seen =
        std::ranges::any_of(reading, [&](const GpuReading& each) { return each.address == gpu.address; });
    if (seen || last_.erase(gpu.address) == 0) continue;
    note(fmt::format("GPU {} disappeared during the run; check dmesg for Xid errors", gpu.address));
  }
}

TelemetryWatch::TelemetryWatch(GpuReaders readers, double seconds_between, double seconds_to_read)
    : readers_(std::move(readers)), seconds_between_(seconds_between), seconds_to_read_(seconds_to_read) {
  read();
  if (!readers_.empty()) thread_ = std::thread([this] { watch(); });
}

TelemetryWatch::~TelemetryWatch() { stop(); }

void TelemetryWatch::running(std::optional<std::size_t> row) {
  const std::lock_guard lock(mutex_);
  row_ = row;
  if (!row) return;
  during_.insert(*row);
  since_last_.insert(*row);
}

const TelemetryLog& TelemetryWatch::finish() {
  stop();
  if (!readers_.empty()) read();
  return log_;
}

void TelemetryWatch::stop() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    over_ = true;
  }
  wake_.notify_one();
  thread_.join();
}

void TelemetryWatch::watch() {
  while (!readers_.empty()) {
    const double pause = std::max(seconds_between_, took_seconds_ * (1 / kMaxShareOfTime - 1));
    {
      std::unique_lock lock(mutex_);
      if (wake_.wait_for(lock, std::chrono::duration<double>(pause), [this] { return over_; })) return;
    }
    read();
  }
}

void TelemetryWatch::read() {
  const auto start = std::chrono::steady_clock::now();
  ReadingTime time;
  if (log_.readings() > 0) time.seconds_since_last = seconds_from(last_reading_);
  last_reading_ = start;
  {
    const std::lock_guard lock(mutex_);
    during_.clear();
    if (row_) during_.insert(*row_);
    time.since_last = std::exchange(since_last_, during_);
  }
  const auto reading = read_gpus();
  {
    const std::lock_guard lock(mutex_);
    time.during = during_;
  }
  time.since_last.insert(time.during.begin(), time.during.end());
  took_seconds_ = seconds_from(start);
  if (reading) log_.add(*reading, time);
}

std::optional<std::vector<GpuReading>> TelemetryWatch::read_gpus() {
  const auto start = std::chrono::steady_clock::now();
  while (!readers_.empty()) {
    try {
      // To hundredths, as messages show it.
      const double seconds_left = std::ceil((seconds_to_read_ - seconds_from(start)) * 100) / 100;
      if (seconds_left <= 0) {
        throw std::runtime_error(fmt::format("not asked, as {} s had passed", seconds_to_read_));
      }
      auto reading = readers_.front()->read_within(seconds_left);
      if (log_.readings() == 0 && !failures_.empty()) {
        log_.note(
            fmt::format("read with {} instead of {}", readers_.front()->name(), fmt::join(failures_, "; ")));
      }
      return reading;
    } catch (const std::exception& error) {
      failures_.push_back(fmt::format("{}: {}", readers_.front()->name(), error.what()));
    }
    if (log_.readings() > 0) {
      log_.note(fmt::format("unknown since reading {}: {}; check dmesg for Xid errors", log_.readings(),
                            failures_.back()));
      readers_.clear();
    } else {
      readers_.erase(readers_.begin());
      if (readers_.empty())
        log_.note(fmt::format("unknown: {}; check the NVIDIA driver, or pass --no-telemetry",
                              fmt::join(failures_, "; ")));
    }
  }
  return std::nullopt;
}

}  // namespace collbench::topology
