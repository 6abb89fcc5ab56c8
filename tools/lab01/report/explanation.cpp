#include "tools/lab01/report/lab01.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>
#include <vector>

#include "analysis/models/nccl/algorithms.hpp"
#include "analysis/models/nccl/gpu_expectation.hpp"
#include "analysis/report/sections.hpp"
#include "analysis/verdict/verdict.hpp"
#include "base/record/run.hpp"
#include "base/units.hpp"

namespace collbench::analysis {
namespace {

std::string two_digit_percent(double part) { return format_significant(part * 100, 2, 7) + " %"; }

/// The largest busbw of the row's operation in the run, and at which size.
std::pair<double, std::uint64_t> peak_of(const Run& run, OperationId id) {
  std::pair<double, std::uint64_t> peak{0, 0};
  for (const Row& row : run.rows) {
    if (row.measurement.key.operation != id || !row.measurement.unavailable.empty()) continue;
    const double busbw = rates(row, static_cast<int>(run.ranks.size())).bus_bandwidth.value_or(0);
    peak = std::max(peak, {busbw, row.measurement.key.size_bytes});
  }
  return peak;
}

/// How near a row comes to the best of the run. What holds it there, no topology or calibration tells here.
std::string share_of_peak(const Run& run, const Row& row, double busbw) {
  const auto [peak, size] = peak_of(run, row.measurement.key.operation);
  if (peak <= 0) return "";
  if (size == row.measurement.key.size_bytes)
    return fmt::format("the peak of this run, {}", format_rate(peak));
  return fmt::format("{} of the run's peak ({} at {})", two_digit_percent(busbw / peak), format_rate(peak),
                     lab01_size(size));
}

/// What of the expected time the bytes take at the rate of large buffers; the rest is waiting: for launches,
/// for steps, and until the pipelines are full.
std::string bound_by(const Run& run, const Row& row, const Lab01Machine& machine) {
  const Expectation& expected = row.expectation;
  const RowKey& key = row.measurement.key;
  GpuCluster any = machine.cluster;
  any.run.algorithm.reset();
  for (const AlgorithmRate& rate : gpu_algorithms(key.operation, any)) {
    if (name(rate.algorithm) != expected.expected_by) continue;
    const double moving = static_cast<double>(key.size_bytes) / kGigabyte / rate.gigabytes_per_second;
    const bool latency = moving < *expected.expected_seconds / 2;
    return fmt::format(
        "{} by the model: at the rate of large buffers the bytes take {} of the expected {} ({}, {})",
        latency ? "latency-bound" : "bandwidth-bound", format_seconds(moving),
        format_seconds(*expected.expected_seconds), expected.expected_by,
        latency ? "the rest is steps and filling pipelines" : "limited by " + rate.limit.name);
  }
  return share_of_peak(run, row, rates(row, static_cast<int>(run.ranks.size())).bus_bandwidth.value_or(0));
}

std::string against_expectation(const Row& row, const Rates& found) {
  if (!found.measured_over_expected) return "no expectation for this row";
  constexpr double kNear = 0.1;
  const double ratio = *found.measured_over_expected;
  const std::string& algorithm = row.expectation.expected_by;
  const std::string model = algorithm.empty() ? "expected" : fmt::format("the {} model predicts", algorithm);
  if (std::fabs(ratio - 1) <= kNear)
    return fmt::format("within {} of what {}", two_digit_percent(kNear),
                       algorithm.empty() ? "is expected" : model);
  return ratio < 1 ? fmt::format("takes {:.2f} times as long as {}", 1 / ratio, model)
                   : fmt::format("{:.2f} times as fast as {}", ratio, model);
}

/// "measured 28.4 GB/s is 0.14 of it, below its band of 170 to 230 GB/s".
std::string against_band(const Run& run, const Row& row, const Rates& found) {
  if (!found.bus_bandwidth || !found.measured_over_expected) return "";
  std::string ratio =
      fmt::format("the measured {} is {:.2f} of the expected {}", format_rate(*found.bus_bandwidth),
                  *found.measured_over_expected, format_rate(*found.expected_bus_bandwidth));
  const auto side = side_of_band(row);
  if (!side) return ratio;
  const auto busbw = [&](double seconds) {
    const RowKey& key = row.measurement.key;
    return format_rate(
        bus_bandwidth(operation(key.operation), key.size_bytes, static_cast<int>(run.ranks.size()), seconds));
  };
  return fmt::format("{}, {} its band of {} to {}", ratio,
                     *side < 0   ? "below"
                     : *side > 0 ? "above"
                                 : "inside",
                     busbw(*row.expectation.slowest_seconds), busbw(*row.expectation.fastest_seconds));
}

/// Why a row outside its band is there, as far as anything says so.
std::string cause_outside_band(const Row& row) {
  const auto side = side_of_band(row);
  if (!side || *side == 0) return "";
  if (*side > 0) return "faster than the model by more than the model's error, which no fault is";
  if (row.measurement.key.size_bytes < kLargeSize) {
    const std::string& ran = row.measurement.algorithm_ran;
    const bool known = !ran.empty() && ran != kLibraryChoice;
    return known ? "what takes the rest is not known: below 64 MiB the steps decide, which no link shows"
                 : "what takes the rest is not known: which algorithm and protocol NCCL chose at this size "
                   "is not stated (NCCL_DEBUG_SUBSYS=TUNING shows it)";
  }
  if (is_bad(row.verdict.word)) return "the verdict below names the likely cause";
  return "what takes the rest is not known; the run's largest sizes do not show it";
}

/// What the log says that slows a job down.
void add_causes(const Run& run, std::vector<std::string>& sentences) {
  if (!run.log) return;
  const LogFacts& log = *run.log;
  if (uses_sockets(log)) {
    sentences.push_back(fmt::format("NCCL used sockets, no RDMA (line {})", log.network->line));
  }
  if (log.gpu_direct && !log.gpu_direct->value) {
    sentences.push_back(fmt::format(
        "network traffic went through host memory, without GPUDirect RDMA (line {})", log.gpu_direct->line));
  }
  const auto& least = log.nvlink_least_bytes_per_second;
  if (least && log.nvlink_most_bytes_per_second && least->value < log.nvlink_most_bytes_per_second->value) {
    sentences.push_back(fmt::format("NCCL saw NVLink of only {} between two GPUs (line {}), and {} elsewhere",
                                    format_rate(least->value), least->line,
                                    format_rate(log.nvlink_most_bytes_per_second->value)));
  }
}

/// The sweep that `row` belongs to; empty for a row that was not measured.
SizeSeries sweep_of(const Run& run, const Row& row) {
  for (const SizeSeries& series : series_of(run.rows)) {
    if (std::ranges::find(series, &row) != series.end()) return series;
  }
  return {};
}

}  // namespace

std::optional<int> side_of_band(const Row& row) {
  const Expectation& expected = row.expectation;
  if (!expected.fastest_seconds || !expected.slowest_seconds || row.measurement.seconds <= 0)
    return std::nullopt;
  if (row.measurement.seconds > *expected.slowest_seconds) return -1;
  return row.measurement.seconds < *expected.fastest_seconds ? 1 : 0;
}

std::string lab01_size(std::uint64_t bytes) {
  constexpr std::array<std::pair<std::uint64_t, std::string_view>, 2> kUnits{
      {{1'000'000'000, "GB"}, {1'000'000, "MB"}}};
  for (const auto& [unit, name] : kUnits) {
    if (bytes >= unit && bytes % unit == 0 && bytes % kMiB != 0)
      return fmt::format("{} {}", bytes / unit, name);
  }
  return format_bytes(bytes);
}

std::string lab01_explanation(const Run& run, const Row& row, const std::optional<Lab01Machine>& machine) {
  const Rates found = rates(row, static_cast<int>(run.ranks.size()));
  std::vector<std::string> sentences;
  if (machine && row.expectation.expected_seconds) {
    sentences.push_back(bound_by(run, row, *machine));
    sentences.push_back(against_band(run, row, found));
    sentences.push_back(cause_outside_band(row));
  } else {
    if (found.bus_bandwidth) sentences.push_back(share_of_peak(run, row, *found.bus_bandwidth));
    sentences.push_back(against_expectation(row, found));
  }
  const std::string& ran = row.measurement.algorithm_ran;
  if (!ran.empty() && ran != kLibraryChoice) sentences.push_back(ran + " ran");
  if (const double share = page_fault_share(run, row); share >= kMinReportedPageFaultShare && share < 1) {
    sentences.push_back(
        fmt::format("page faults take about {} of the time (mostly buffers that the library reallocates on "
                    "every call), which the expectation does not include",
                    two_digit_percent(share)));
  }
  if (row.verdict.explanation.empty()) add_causes(run, sentences);  // else the sweep's verdict has them
  std::erase(sentences, "");
  return fmt::format("{}.", fmt::join(sentences, "; "));
}

std::string lab01_verdict(const Run& run, const Row& row) {
  const SizeSeries series = sweep_of(run, row);
  if (series.empty() || series.back()->verdict.explanation.empty()) return {};
  const Verdict& verdict = series.back()->verdict;
  return fmt::format("{}: {}", verdict.word == VerdictWord::none ? "no verdict" : name(verdict.word),
                     verdict.explanation);
}

}  // namespace collbench::analysis
