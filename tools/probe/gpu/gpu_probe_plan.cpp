#include "tools/probe/gpu/gpu_probe.hpp"

#include <algorithm>
#include <cmath>

#include "tools/probe/gpu/gpu_matmul.hpp"

namespace collbench::collectives {
namespace {

constexpr std::array kCopies{kGpuHbmCopy, kGpuHbmTriad, kHostToGpu, kGpuToHost, kGpuPeer};

constexpr int kWindows = 5;
constexpr int kWindowsOfLink = 3;

// Of GpuProbe::seconds.
constexpr double kFirstWarmUp = 1.0 / 4;
constexpr double kWarmUp = 1.0 / 20;
constexpr double kWindow = 1.0 / 10;
constexpr double kWindowOfMemory = 1.0 / 40;
constexpr double kWarmUpOfLink = 1.0 / 200;
constexpr double kWindowOfLink = 1.0 / 100;

constexpr double kMaxShareOfTimeout = 1.0 / 4;

GpuTiming timing(const GpuProbe& probe, double warm_up, double window, int windows) {
  return {.warm_up_seconds = warm_up * probe.seconds,
          .window_seconds = window * probe.seconds,
          .windows = windows,
          .timeout_seconds = probe.timeout_seconds};
}

}  // namespace

std::vector<std::string> gpu_probe_ids() {
  std::vector<std::string> ids;
  for (const GemmType& type : gemm_types()) ids.emplace_back(type.id);
  ids.insert(ids.end(), kCopies.begin(), kCopies.end());
  return ids;
}

std::vector<std::string> usual_gpu_probe_ids() {
  std::vector<std::string> ids = gpu_probe_ids();
  for (const GemmType& type : gemm_types()) {
    if (type.only_on_request) std::erase(ids, type.id);
  }
  return ids;
}

bool is_wanted(const GpuProbe& probe, std::string_view id) {
  const std::vector<std::string> ids = probe.only.empty() ? usual_gpu_probe_ids() : probe.only;
  return std::ranges::find(ids, id) != ids.end();
}

bool wants_products(const GpuProbe& probe) {
  return probe.soak_seconds > 0 ||
         std::ranges::any_of(gemm_types(), [&](const GemmType& type) { return is_wanted(probe, type.id); });
}

bool wants_copies(const GpuProbe& probe) {
  return std::ranges::any_of(kCopies, [&](std::string_view id) { return is_wanted(probe, id); });
}

GpuTiming product_timing(const GpuProbe& probe, bool is_first) {
  return timing(probe, is_first ? kFirstWarmUp : kWarmUp, kWindow, kWindows);
}

GpuTiming memory_timing(const GpuProbe& probe) { return timing(probe, kWarmUp, kWindowOfMemory, kWindows); }

GpuTiming link_timing(const GpuProbe& probe) {
  return timing(probe, kWarmUpOfLink, kWindowOfLink, kWindowsOfLink);
}

GpuTiming soak_timing(const GpuProbe& probe) {
  const auto windows = static_cast<int>(std::lround(probe.soak_seconds / gpu_window_seconds(probe)));
  return timing(probe, kWarmUp, kWindow, std::max(kWindows, windows));
}

double total_seconds(const GpuTiming& timing) {
  return timing.warm_up_seconds + timing.windows * timing.window_seconds;
}

double longest_product_seconds(const GpuProbe& probe) {
  return std::min(2 * gpu_window_seconds(probe), probe.timeout_seconds * kMaxShareOfTimeout);
}

double gpu_window_seconds(const GpuProbe& probe) { return kWindow * probe.seconds; }

double gpu_probe_seconds(const GpuProbe& probe, int gpus) {
  double seconds = wants_products(probe) ? (kFirstWarmUp - kWarmUp) * probe.seconds : 0;
  for (const GemmType& type : gemm_types()) {
    if (is_wanted(probe, type.id))
      seconds += total_seconds(product_timing(probe, false)) * static_cast<double>(kGpuProductSizes.size());
  }
  for (const std::string_view id : {kGpuHbmCopy, kGpuHbmTriad})
    seconds += is_wanted(probe, id) ? total_seconds(memory_timing(probe)) : 0;
  for (const std::string_view id : {kHostToGpu, kGpuToHost})
    seconds += is_wanted(probe, id) ? total_seconds(link_timing(probe)) * gpus : 0;
  if (is_wanted(probe, kGpuPeer)) seconds += total_seconds(link_timing(probe)) * gpus * (gpus - 1);
  return seconds + probe.soak_seconds;
}

}  // namespace collbench::collectives
