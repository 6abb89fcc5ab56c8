#include "analysis/verdict/verdict.hpp"

#include <algorithm>
#include <utility>

#include "base/statistics.hpp"

namespace collbench::analysis {
namespace {

constexpr std::size_t kLargestRows = 3;
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

bool low_by_intervals(const Sweep& sweep) {
  bool previous = false;
  for (const Row* row : sweep) {
    if (!judged(*row)) continue;
    const bool below = surely_below(*row);
    if (below && (previous || row->measurement.key.size_bytes >= kLargeSize)) return true;
    previous = below;
  }
  return false;
}

bool has_intervals(const Sweep& sweep) {
  return std::any_of(sweep.begin(), sweep.end(),
                     [](const Row* row) { return row->measurement.interval.has_value(); });
}

}  // namespace

std::vector<Sweep> sweeps_of(const std::vector<Row>& rows) {
  std::vector<Sweep> sweeps;
  for (const Row& row : rows) {
    if (!row.measurement.unavailable.empty() || row.measurement.seconds <= 0) continue;
    const auto found = std::find_if(sweeps.begin(), sweeps.end(), [&](const Sweep& sweep) {
      return same_sweep(sweep.front()->measurement.key, row.measurement.key);
    });
    if (found != sweeps.end()) {
      found->push_back(&row);
    } else {
      sweeps.push_back({&row});
    }
  }
  for (Sweep& sweep : sweeps) {
    std::sort(sweep.begin(), sweep.end(), [](const Row* a, const Row* b) {
      return std::pair(a->measurement.key.size_bytes, a) < std::pair(b->measurement.key.size_bytes, b);
    });
  }
  return sweeps;
}

std::optional<SweepRatios> sweep_ratios(const Sweep& sweep) {
  std::vector<double> ring;
  std::vector<double> best;
  std::vector<double> edge;
  for (auto row = sweep.rbegin(); row != sweep.rend() && ring.size() < kLargestRows; ++row) {
    if (!judged(**row) || (*row)->measurement.key.size_bytes < kLargeSize) continue;
    const Expectation& expected = (*row)->expectation;
    const double seconds = (*row)->measurement.seconds;
    ring.push_back(expected.ring_seconds.value_or(*expected.expected_seconds) / seconds);
    best.push_back(*expected.expected_seconds / seconds);
    edge.push_back(*expected.slowest_seconds / seconds);
  }
  if (ring.empty()) return std::nullopt;
  return SweepRatios{median(ring), median(best), median(edge), ring.size()};
}

VerdictWord verdict_of(const Sweep& sweep) {
  if (std::none_of(sweep.begin(), sweep.end(), [](const Row* row) { return judged(*row); })) {
    return VerdictWord::none;
  }
  const auto ratios = sweep_ratios(sweep);
  if (ratios && ratios->to_ring < kFaultBelow) return VerdictWord::fault;
  if (ratios && ratios->to_best > kWrongAbove) return VerdictWord::model_or_ranks_wrong;
  if (has_intervals(sweep)) return low_by_intervals(sweep) ? VerdictWord::low : VerdictWord::as_expected;
  if (!ratios) return VerdictWord::none;
  if (ratios->to_lower_edge >= 1) return VerdictWord::as_expected;
  return ratios->rows > 1 ? VerdictWord::low : VerdictWord::none;
}

}  // namespace collbench::analysis
