#include "analysis/report/lab01/lab01.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "analysis/report/sections.hpp"
#include "analysis/verdict/verdict.hpp"
#include "base/record/run.hpp"
#include "base/text_input.hpp"
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

/// Below half of the peak more than half of the time does not depend on the size (Hockney's n½).
std::string bound(const Run& run, const Row& row, double busbw) {
  const auto [peak, size] = peak_of(run, row.measurement.key.operation);
  if (peak <= 0) return "";
  if (size == row.measurement.key.size_bytes) {
    return fmt::format("bandwidth-bound: the peak of this run, {}", format_rate(peak));
  }
  return fmt::format("{}-bound: {} of the run's peak ({} at {})", busbw < peak / 2 ? "latency" : "bandwidth",
                     two_digit_percent(busbw / peak), format_rate(peak), format_bytes(size));
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

/// What the log says that slows a job down.
void add_causes(const Run& run, std::vector<std::string>& sentences) {
  if (!run.log) return;
  const LogFacts& log = *run.log;
  if (log.network && lower(log.network->value).find("socket") != std::string::npos) {
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
    if (std::find(series.begin(), series.end(), &row) != series.end()) return series;
  }
  return {};
}

/// Of a sweep that was judged, all rows but the largest explain themselves.
bool explains_itself(const Run& run, const Row& row) {
  const SizeSeries series = sweep_of(run, row);
  return !row.verdict.explanation.empty() && !series.empty() && series.back() != &row;
}

}  // namespace

std::string lab01_explanation(const Run& run, const Row& row) {
  if (explains_itself(run, row)) return row.verdict.explanation + ".";
  const Rates found = rates(row, static_cast<int>(run.ranks.size()));
  std::vector<std::string> sentences;
  if (found.bus_bandwidth) sentences.push_back(bound(run, row, *found.bus_bandwidth));
  sentences.push_back(against_expectation(row, found));
  const std::string& ran = row.measurement.algorithm_ran;
  if (!ran.empty() && ran != kLibraryChoice) sentences.push_back(ran + " ran");
  if (const double share = page_fault_share(run, row); share >= kMinReportedPageFaultShare) {
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
