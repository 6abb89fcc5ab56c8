#include "analysis/verdict/verdict.hpp"

#include <algorithm>
#include <optional>

namespace collbench::analysis {

bool has_expectation(const Row& row) {
  return row.measurement.unavailable.empty() && row.measurement.seconds > 0 &&
         row.expectation.expected_seconds.has_value();
}

namespace {

/// A row is overtaken where it takes so many times what a size of less than kFarLarger times its bytes takes
/// (less is how slow small sizes of a plugin scatter: 1.15 to 1.4 on 8 nodes of Polaris,
/// argonne-lcf/alcf-nccl-tests), or longer than a far larger one.
constexpr double kOvertaken = 1.5;
constexpr double kFarLarger = 8;

double size_of(const Row& row) { return static_cast<double>(row.measurement.key.size_bytes); }

/// What the sizes beside series[at] make likely: time is linear in size between two (alpha + size × beta),
/// and at most proportional to it beyond the last. None without them.
std::optional<double> likely_seconds(const SizeSeries& series, std::size_t at) {
  if (at == 0 || !has_expectation(*series[at - 1])) return std::nullopt;
  const Row& before = *series[at - 1];
  if (at + 1 == series.size()) return before.measurement.seconds * size_of(*series[at]) / size_of(before);
  const Row& after = *series[at + 1];
  if (!has_expectation(after)) return std::nullopt;
  const double share = (size_of(*series[at]) - size_of(before)) / (size_of(after) - size_of(before));
  return before.measurement.seconds + share * (after.measurement.seconds - before.measurement.seconds);
}

/// Whether a larger size takes less time: of a few times the bytes clearly less.
bool is_overtaken(const SizeSeries& series, std::size_t at) {
  return std::any_of(
      series.begin() + static_cast<std::ptrdiff_t>(at) + 1, series.end(), [&](const Row* larger) {
        const double margin = size_of(*larger) < kFarLarger * size_of(*series[at]) ? kOvertaken : 1;
        return has_expectation(*larger) &&
               series[at]->measurement.seconds > margin * larger->measurement.seconds;
      });
}

}  // namespace

const Row* collapsed_row(const SizeSeries& series) {
  for (std::size_t i = 0; i < series.size(); ++i) {
    const Row& row = *series[i];
    if (!has_expectation(row) || row.measurement.key.size_bytes < kCollapseFrom) continue;
    const double seconds = row.measurement.seconds;
    if (seconds <= kCollapse * *row.expectation.expected_seconds) continue;
    const auto likely = likely_seconds(series, i);
    if (is_overtaken(series, i) || (likely && seconds > kCollapse * *likely)) return &row;
  }
  return nullptr;
}

}  // namespace collbench::analysis
