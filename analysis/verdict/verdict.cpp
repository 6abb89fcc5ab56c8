#include "analysis/verdict/verdict.hpp"

#include <algorithm>
#include <utility>

#include "base/statistics.hpp"

namespace collbench::analysis {
namespace {

constexpr std::size_t kMaxRows = 3;
constexpr double kFaultBelow = 0.5;   // of the ring
constexpr double kWrongAbove = 1.05;  // of the best algorithm

bool judged(const Row& row) {
  return row.measurement.unavailable.empty() && row.measurement.seconds > 0 &&
         row.expectation.slowest_seconds && row.expectation.expected_seconds;
}

bool same_sweep(const RowKey& a, const RowKey& b) {
  return a.operation == b.operation && a.type == b.type && a.reduction == b.reduction &&
         a.in_place == b.in_place && a.algorithm == b.algorithm;
}

/// The whole interval of busbw below the band.
bool surely_below(const Row& row) {
  return row.measurement.interval && row.measurement.interval->low_seconds > *row.expectation.slowest_seconds;
}

bool low_by_intervals(const SizeSeries& series) {
  bool previous = false;
  for (const Row* row : series) {
    if (!judged(*row)) continue;
    const bool below = surely_below(*row);
    if (below && (previous || row->measurement.key.size_bytes >= kLargeSize)) return true;
    previous = below;
  }
  return false;
}

bool has_intervals(const SizeSeries& series) {
  return std::any_of(series.begin(), series.end(),
                     [](const Row* row) { return row->measurement.interval.has_value(); });
}

}  // namespace

std::vector<SizeSeries> series_of(const std::vector<Row>& rows) {
  std::vector<SizeSeries> all_series;
  for (const Row& row : rows) {
    if (!row.measurement.unavailable.empty() || row.measurement.seconds <= 0) continue;
    const auto found = std::find_if(all_series.begin(), all_series.end(), [&](const SizeSeries& series) {
      return same_sweep(series.front()->measurement.key, row.measurement.key);
    });
    if (found != all_series.end()) {
      found->push_back(&row);
    } else {
      all_series.push_back({&row});
    }
  }
  for (SizeSeries& series : all_series) {
    std::sort(series.begin(), series.end(), [](const Row* a, const Row* b) {
      return std::pair(a->measurement.key.size_bytes, a) < std::pair(b->measurement.key.size_bytes, b);
    });
  }
  return all_series;
}

std::optional<SeriesRatios> series_ratios(const SizeSeries& series) {
  std::vector<double> ring;
  std::vector<double> best;
  std::vector<double> edge;
  for (auto row = series.rbegin(); row != series.rend() && ring.size() < kMaxRows; ++row) {
    if (!judged(**row) || (*row)->measurement.key.size_bytes < kLargeSize) continue;
    const Expectation& expected = (*row)->expectation;
    const double seconds = (*row)->measurement.seconds;
    ring.push_back(expected.ring_seconds.value_or(*expected.expected_seconds) / seconds);
    best.push_back(*expected.expected_seconds / seconds);
    edge.push_back(*expected.slowest_seconds / seconds);
  }
  if (ring.empty()) return std::nullopt;
  return SeriesRatios{median(ring), median(best), median(edge), ring.size()};
}

VerdictWord verdict_of(const SizeSeries& series) {
  if (std::none_of(series.begin(), series.end(), [](const Row* row) { return judged(*row); })) {
    return VerdictWord::none;
  }
  const auto ratios = series_ratios(series);
  if (ratios && ratios->to_ring < kFaultBelow) return VerdictWord::fault;
  if (ratios && ratios->to_best > kWrongAbove) return VerdictWord::model_or_ranks_wrong;
  if (has_intervals(series)) return low_by_intervals(series) ? VerdictWord::low : VerdictWord::as_expected;
  if (!ratios) return VerdictWord::none;
  if (ratios->to_lower_edge >= 1) return VerdictWord::as_expected;
  return ratios->rows > 1 ? VerdictWord::low : VerdictWord::none;
}

}  // namespace collbench::analysis
