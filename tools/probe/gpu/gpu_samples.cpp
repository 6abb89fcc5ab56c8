#include "tools/probe/gpu/gpu_samples.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <numeric>
#include <optional>
#include <set>
#include <utility>

#include "topology/graph/pci.hpp"

namespace collbench::topology {
namespace {

constexpr double kShareForReading = 0.1;  // as TelemetryWatch
constexpr double kSecondsToRead = 8;

/// None of no values.
std::optional<double> mean_of(const std::vector<double>& values) {
  if (values.empty()) return std::nullopt;
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

}  // namespace

GpuWindow gpu_window(const std::vector<GpuSample>& samples, std::string_view address, double begin,
                     double end) {
  const std::string wanted = canonical_pci_address(std::string(address)).value_or(std::string(address));
  std::vector<double> clocks;
  std::vector<double> powers;
  std::set<GpuTrouble> reasons;
  GpuWindow window;
  for (const GpuSample& sample : samples) {
    if (sample.seconds < begin || sample.seconds > end) continue;
    const auto gpu = std::ranges::find(sample.gpus, wanted, &GpuReading::address);
    if (gpu == sample.gpus.end()) continue;
    if (gpu->sm_clock_hertz) clocks.push_back(*gpu->sm_clock_hertz);
    if (gpu->power_watts) powers.push_back(*gpu->power_watts);
    window.temperature_celsius = std::max(window.temperature_celsius, gpu->temperature_celsius);
    reasons.insert(gpu->throttled_by.begin(), gpu->throttled_by.end());
  }
  window.sm_clock_hertz = mean_of(clocks);
  window.power_watts = mean_of(powers);
  window.throttled_by = {reasons.begin(), reasons.end()};
  return window;
}

GpuSampler::GpuSampler(std::vector<std::unique_ptr<GpuReader>> readers, const Clock& clock,
                       double seconds_between)
    : clock_(clock), seconds_between_(seconds_between) {
  std::vector<std::string> failures;
  for (std::unique_ptr<GpuReader>& reader : readers) {
    if (read(*reader)) {
      reader_ = std::move(reader);
      thread_ = std::thread([this] { watch(); });
      return;
    }
    failures.push_back(std::move(failure_));
  }
  failure_ = failures.empty() ? "nothing can read them" : failures.front();
}

GpuSampler::~GpuSampler() { (void)finish(); }

const std::vector<GpuSample>& GpuSampler::finish() {
  if (thread_.joinable()) {
    {
      const std::lock_guard lock(mutex_);
      over_ = true;
    }
    wake_.notify_one();
    thread_.join();
  }
  return samples_;
}

void GpuSampler::watch() {
  while (true) {
    const double pause = std::max(seconds_between_, took_seconds_ * (1 / kShareForReading - 1));
    {
      std::unique_lock lock(mutex_);
      if (wake_.wait_for(lock, std::chrono::duration<double>(pause), [this] { return over_; })) return;
    }
    if (!read(*reader_)) return;
  }
}

bool GpuSampler::read(GpuReader& reader) {
  const double begin = clock_.seconds();
  try {
    std::vector<GpuReading> gpus = reader.read_within(kSecondsToRead);
    const double end = clock_.seconds();
    took_seconds_ = end - begin;
    samples_.push_back({(begin + end) / 2, std::move(gpus)});
    failure_.clear();
    return true;
  } catch (const std::exception& error) {
    failure_ = fmt::format("{}: {}", reader.name(), error.what());
    return false;
  }
}

}  // namespace collbench::topology
