#include "tools/plan/step/measured_collectives.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "base/error.hpp"
#include "base/statistics.hpp"
#include "tools/plan/step/step.hpp"

namespace collbench::analysis {
namespace {

/// A measured time is at most as many times the expected one, or below it: a choice, far beyond what a broken
/// fabric costs (a second for what takes a nanosecond). A number beyond it is damaged.
constexpr double kMaxOfExpected = 1e9;

/// Measured over expected seconds. Throws Error (usage) where that is no number that a collective can have: a
/// step of it would be infinite, or none.
double record_ratio(const Measurement& measured, double expected_seconds, const std::string& record) {
  const double ratio = measured.seconds / expected_seconds;
  const bool is_within = ratio <= kMaxOfExpected && ratio >= 1 / kMaxOfExpected;  // false for a NaN
  if (is_within) return ratio;
  throw usage_error(record,
                    fmt::format("{} of {} bytes took {:g} s by it, where {:g} s are expected",
                                operation(measured.key.operation).name, measured.key.size_bytes,
                                measured.seconds, expected_seconds),
                    "correct that row, or leave it out");
}

/// Where a record has a size twice, in place and not, the mean.
std::vector<MeasuredCollectives::Ratio> record_ratios(const Run& judged, OperationId operation,
                                                      const std::string& record) {
  std::map<double, std::vector<double>> by_size;
  for (const Row& row : judged.rows) {
    const Measurement& measured = row.measurement;
    const bool counts = measured.key.operation == operation && measured.key.algorithm == kLibraryChoice;
    if (!counts || !measured.unavailable.empty() || measured.seconds <= 0) continue;
    if (row.expectation.expected_seconds.value_or(0) <= 0) continue;
    by_size[static_cast<double>(measured.key.size_bytes)].push_back(
        record_ratio(measured, *row.expectation.expected_seconds, record));
  }
  std::vector<MeasuredCollectives::Ratio> ratios;
  for (const auto& [bytes, each] : by_size)
    if (bytes > 0) ratios.push_back({bytes, mean(each)});
  return ratios;
}

}  // namespace

std::optional<double> MeasuredCollectives::ratio(OperationId operation, double bytes) const {
  const auto found = ratios.find(operation);
  if (found == ratios.end() || found->second.empty()) return std::nullopt;
  const std::vector<Ratio>& all = found->second;
  if (bytes * kRatioReach < all.front().bytes || bytes > kRatioReach * all.back().bytes) return std::nullopt;
  if (bytes <= all.front().bytes) return all.front().ratio;
  if (bytes >= all.back().bytes) return all.back().ratio;
  const auto above = std::ranges::find_if(all, [bytes](const Ratio& each) { return each.bytes >= bytes; });
  const Ratio& below = *(above - 1);
  const double part = std::log(bytes / below.bytes) / std::log(above->bytes / below.bytes);
  return below.ratio + part * (above->ratio - below.ratio);
}

MeasuredCollectives measured_collectives(const Run& judged, const GpuCluster& cluster,
                                         const std::string& record) {
  MeasuredCollectives measured{.record = record, .across_nodes = cluster.domains() > 1};
  std::set<OperationId> operations;
  for (const Row& row : judged.rows) {
    if (has_wrong_data(row.measurement)) {
      throw usage_error(record,
                        "the run has wrong data, and its times are not those of collectives that work",
                        "find the cause first; then measure again");
    }
    operations.insert(row.measurement.key.operation);
  }
  for (const OperationId operation : operations) {
    std::vector<MeasuredCollectives::Ratio> ratios = record_ratios(judged, operation, record);
    if (!ratios.empty()) measured.ratios.emplace(operation, std::move(ratios));
  }
  if (!measured.ratios.empty()) return measured;
  throw usage_error(record, "it has no measured row of which the model expects a time",
                    "give a record of collectives on GPUs, of collbench or imported");
}

std::vector<StepCollective> out_of_reach(const Step& step, const MeasuredCollectives& measured) {
  std::map<std::pair<OperationId, double>, StepCollective> found;
  for (const StepTerm& term : step.terms) {
    for (const StepCollective& each : term.collectives) {
      const bool silent =
          measured.ratios.contains(each.operation) && !measured.ratio(each.operation, each.bytes);
      if (each.across_nodes == measured.across_nodes && silent)
        found.emplace(std::pair(each.operation, each.bytes), each);
    }
  }
  std::vector<StepCollective> all;
  for (const auto& [key, each] : found) all.push_back(each);
  return all;
}

void require_measured(const MeasuredCollectives& measured, const Step& step) {
  std::set<OperationId> lacking;
  for (const StepTerm& term : step.terms) {
    for (const StepCollective& each : term.collectives) {
      if (each.across_nodes == measured.across_nodes && !measured.ratios.contains(each.operation))
        lacking.insert(each.operation);
    }
  }
  if (lacking.empty()) return;
  std::vector<std::string_view> names;
  std::vector<std::string_view> options;
  for (const OperationId id : lacking) {
    names.push_back(operation(id).name);
    options.push_back(operation(id).option);
  }
  throw usage_error(
      "--measured",
      fmt::format("{} has no {}, which the step runs {}", measured.record, fmt::join(names, ", "),
                  measured.across_nodes ? "between nodes" : "within a node"),
      fmt::format("measure also --ops {}", fmt::join(options, ",")));
}

}  // namespace collbench::analysis
