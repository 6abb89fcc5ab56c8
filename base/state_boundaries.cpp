#include "base/state_boundaries.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>

#include "base/statistics.hpp"

namespace collbench {
namespace {

constexpr double kMinFactor = 1.2;
constexpr double kMinGapOverWidth = 0.5;
constexpr std::size_t kMinValues = 5;
constexpr double kMinShare = 0.05;

using SortedLogs = std::span<const double>;

/// Of the middle 80 %.
double width(SortedLogs logs) {
  const std::size_t tail = logs.size() / 10;
  return logs[logs.size() - 1 - tail] - logs[tail];
}

/// The first value behind the widest gap that divides `logs`; 0 where none does.
std::size_t divided_at(SortedLogs logs, std::size_t min_values) {
  std::size_t best = 0;
  double widest = std::log(kMinFactor);
  for (std::size_t at = min_values; at + min_values <= logs.size(); ++at) {
    const double gap = logs[at] - logs[at - 1];
    if (gap < widest) continue;
    if (gap < kMinGapOverWidth * std::max(width(logs.first(at)), width(logs.subspan(at)))) continue;
    widest = gap;
    best = at;
  }
  return best;
}

void add_boundaries(SortedLogs logs, std::size_t min_values, std::vector<double>& boundaries) {
  const std::size_t at = divided_at(logs, min_values);
  if (at == 0) return;
  add_boundaries(logs.first(at), min_values, boundaries);
  boundaries.push_back(std::exp((logs[at - 1] + logs[at]) / 2));
  add_boundaries(logs.subspan(at), min_values, boundaries);
}

constexpr std::size_t kMinPasses = 3;        // of a row in each of two states that it can tell apart
constexpr double kMinTimeFactor = 1.1;       // between its medians
constexpr double kTail = 0.1;                // of its passes on each side, that may be disturbed
constexpr std::size_t kFollowedByOneOf = 4;  // rows

bool times_lie_apart(const std::vector<double>& a, const std::vector<double>& b) {
  const bool a_is_faster = median(a) < median(b);
  const std::vector<double>& fast = a_is_faster ? a : b;
  const std::vector<double>& slow = a_is_faster ? b : a;
  return median(slow) >= kMinTimeFactor * median(fast) && quantile(fast, 1 - kTail) < quantile(slow, kTail);
}

/// Whether times follow the boundary between states `below` and `below` + 1; none where no row was in both.
std::optional<bool> is_followed(const std::vector<RowPasses>& rows, const std::vector<double>& boundaries,
                                std::size_t below) {
  std::size_t asked = 0;
  std::size_t followed = 0;
  for (const RowPasses& row : rows) {
    const std::vector<double> a = seconds_in_state(row, boundaries, below);
    const std::vector<double> b = seconds_in_state(row, boundaries, below + 1);
    if (a.size() < kMinPasses || b.size() < kMinPasses) continue;
    ++asked;
    if (times_lie_apart(a, b)) ++followed;
  }
  if (asked == 0) return std::nullopt;
  return followed > 0 && followed * kFollowedByOneOf >= asked;
}

/// Each once: blocks that follow one another closely share a probe, which is one piece of evidence.
std::vector<double> round_trips_of(const std::vector<RowPasses>& rows) {
  std::vector<double> all;
  for (const RowPasses& row : rows)
    all.insert(all.end(), row.round_trip_seconds.begin(), row.round_trip_seconds.end());
  std::ranges::sort(all);
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

/// Whether the round trips on both sides of a boundary differ by so much that times need not tell.
bool is_far_apart(const std::vector<double>& round_trips, const std::vector<double>& boundaries,
                  std::size_t below) {
  std::vector<double> low;
  std::vector<double> high;
  for (const double each : round_trips) {
    const auto state = state_of(each, boundaries);
    if (state == below || state == below + 1) (state == below ? low : high).push_back(each);
  }
  return median(high) >= kMinFactorWithoutTimes * median(low);
}

/// Leaves out the boundaries that times do not follow; those that no row was on both sides of where
/// `keep_far_apart` does not hold.
std::vector<double> confirmed(const std::vector<RowPasses>& rows, bool keep_far_apart) {
  const std::vector<double> round_trips = round_trips_of(rows);
  std::vector<double> boundaries = group_boundaries(round_trips);
  for (std::size_t below = 0; below < boundaries.size();) {
    const std::optional<bool> followed = is_followed(rows, boundaries, below);
    if (followed.value_or(keep_far_apart && is_far_apart(round_trips, boundaries, below))) {
      ++below;
    } else {
      boundaries.erase(boundaries.begin() + static_cast<std::ptrdiff_t>(below));
      below = below == 0 ? 0 : below - 1;  // the state below has grown
    }
  }
  return boundaries;
}

}  // namespace

std::vector<double> group_boundaries(std::vector<double> values) {
  std::erase_if(values, [](double value) { return !(value > 0); });
  for (double& value : values) value = std::log(value);
  std::ranges::sort(values);
  const auto share = static_cast<std::size_t>(std::ceil(kMinShare * static_cast<double>(values.size())));
  std::vector<double> boundaries;
  add_boundaries(values, std::max(kMinValues, share), boundaries);
  return boundaries;
}

std::size_t group_of(double value, const std::vector<double>& boundaries) {
  return static_cast<std::size_t>(std::ranges::upper_bound(boundaries, value) - boundaries.begin());
}

std::vector<double> state_boundaries(const std::vector<RowPasses>& rows) { return confirmed(rows, false); }

std::vector<double> state_boundaries_of_two(const std::vector<RowPasses>& base,
                                            const std::vector<RowPasses>& current) {
  std::vector<RowPasses> both = base;
  both.insert(both.end(), current.begin(), current.end());
  return confirmed(both, true);
}

std::optional<std::size_t> state_of(double round_trip_seconds, const std::vector<double>& boundaries) {
  if (!boundaries.empty() && !(round_trip_seconds > 0)) return std::nullopt;
  return group_of(round_trip_seconds, boundaries);
}

std::vector<std::size_t> commonest_states(const std::vector<RowPasses>& rows,
                                          const std::vector<double>& boundaries) {
  std::vector<std::size_t> passes(boundaries.size() + 1);
  for (const RowPasses& row : rows) {
    for (const double each : row.round_trip_seconds)
      if (const auto state = state_of(each, boundaries)) ++passes[*state];
  }
  std::vector<std::size_t> states(passes.size());
  std::iota(states.begin(), states.end(), 0U);
  std::ranges::sort(states, [&](std::size_t a, std::size_t b) {
    return passes[a] != passes[b] ? passes[a] > passes[b] : a < b;
  });
  return states;
}

std::vector<double> seconds_in_state(const RowPasses& row, const std::vector<double>& boundaries,
                                     std::size_t state) {
  std::vector<double> seconds;
  for (std::size_t i = 0; i < row.seconds.size(); ++i)
    if (state_of(row.round_trip_seconds[i], boundaries) == state) seconds.push_back(row.seconds[i]);
  return seconds;
}

}  // namespace collbench
