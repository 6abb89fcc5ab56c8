#include "analysis/states/machine_states.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <numeric>
#include <optional>

#include "base/separate_groups.hpp"
#include "base/statistics.hpp"

namespace collbench::analysis {
namespace {

constexpr std::size_t kMinPasses = 3;          // of a row in each of two states that it can tell apart
constexpr double kMinTimeFactor = 1.1;         // between its medians
constexpr double kMinFactorBetweenRuns = 1.5;  // of round trips, where no time can tell
constexpr double kTail = 0.1;                  // of its passes on each side, that may be disturbed
constexpr std::size_t kFollowedByOneOf = 4;    // rows

/// Whether a probe says in which state the machine was: 0 is not known.
bool says_state(double round_trip, const std::vector<double>& boundaries) {
  return boundaries.empty() || round_trip > 0;
}

/// Of one row, the passes that ran in state `state`.
std::vector<double> seconds_in(const RowPasses& row, const std::vector<double>& boundaries,
                               std::size_t state) {
  std::vector<double> seconds;
  for (std::size_t i = 0; i < row.seconds.size(); ++i) {
    const double round_trip = row.round_trip_seconds[i];
    if (says_state(round_trip, boundaries) && group_of(round_trip, boundaries) == state)
      seconds.push_back(row.seconds[i]);
  }
  return seconds;
}

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
    const std::vector<double> a = seconds_in(row, boundaries, below);
    const std::vector<double> b = seconds_in(row, boundaries, below + 1);
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
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

/// Whether the round trips on both sides of a boundary differ by so much that times need not tell.
bool is_far_apart(const std::vector<double>& round_trips, const std::vector<double>& boundaries,
                  std::size_t below) {
  std::vector<double> low;
  std::vector<double> high;
  for (const double each : round_trips) {
    if (!says_state(each, boundaries)) continue;
    if (const std::size_t group = group_of(each, boundaries); group == below || group == below + 1)
      (group == below ? low : high).push_back(each);
  }
  return median(high) >= kMinFactorBetweenRuns * median(low);
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

/// The states of a run, and in which of them it was how often.
struct RunStates {
  std::vector<double> boundaries;
  std::vector<double> min_round_trip;  // by state
  std::vector<double> max_round_trip;
  std::vector<std::size_t> by_passes;  // the states, the commonest first
};

RunStates states_of(const std::vector<RowPasses>& rows) {
  RunStates states{
      .boundaries = state_boundaries(rows), .min_round_trip = {}, .max_round_trip = {}, .by_passes = {}};
  const std::size_t count = states.boundaries.size() + 1;
  std::vector<std::vector<double>> round_trips(count);
  for (const RowPasses& row : rows) {
    for (const double each : row.round_trip_seconds)
      if (says_state(each, states.boundaries)) round_trips[group_of(each, states.boundaries)].push_back(each);
  }
  for (const std::vector<double>& each : round_trips) {
    states.min_round_trip.push_back(each.empty() ? 0 : *std::min_element(each.begin(), each.end()));
    states.max_round_trip.push_back(each.empty() ? 0 : *std::max_element(each.begin(), each.end()));
  }
  states.by_passes.resize(count);
  std::iota(states.by_passes.begin(), states.by_passes.end(), 0U);
  std::sort(states.by_passes.begin(), states.by_passes.end(), [&](std::size_t a, std::size_t b) {
    return round_trips[a].size() != round_trips[b].size() ? round_trips[a].size() > round_trips[b].size()
                                                          : a < b;
  });
  return states;
}

std::vector<double> medians_of(const std::vector<std::vector<double>>& launches) {
  std::vector<double> medians;
  std::transform(launches.begin(), launches.end(), std::back_inserter(medians),
                 [](const std::vector<double>& passes) { return median(passes); });
  return medians;
}

void split_by_state(Measurement& measured, const RunStates& states, bool over_launches) {
  RowPasses row;
  add_passes(row, measured);
  const std::vector<LaunchInState> all_launches = launches_by_state(measured, states.boundaries);
  for (const std::size_t state : states.by_passes) {
    const std::vector<double> passes = seconds_in(row, states.boundaries, state);
    if (passes.empty()) continue;
    std::vector<std::vector<double>> launches;
    for (const LaunchInState& launch : all_launches) {
      if (launch.state == state) launches.push_back(launch.pass_seconds);
    }
    // A state that no launch stayed in has a time, and no interval over launches.
    const std::vector<double> times = over_launches ? medians_of(launches) : passes;
    RowState& found = measured.states.emplace_back();
    found.min_round_trip_seconds = states.min_round_trip[state];
    found.max_round_trip_seconds = states.max_round_trip[state];
    found.passes = static_cast<int>(passes.size());
    found.launches = static_cast<int>(launches.size());
    found.seconds = median(times.empty() ? passes : times);
    if (const auto interval = median_interval_in_time(times)) {
      found.interval = TimeInterval{.low_seconds = interval->low,
                                    .high_seconds = interval->high,
                                    .confidence = interval->confidence,
                                    .over_launches = over_launches};
    }
    if (measured.states.size() > 1) continue;
    measured.seconds = found.seconds;
    measured.interval = found.interval;
    measured.launch_variation.reset();
    if (const auto parts = variance_parts(launches); parts && over_launches) {
      measured.launch_variation =
          LaunchVariation{.within = parts->within / found.seconds, .between = parts->between / found.seconds};
    }
  }
}

}  // namespace

void add_passes(RowPasses& row, const Measurement& measured) {
  if (measured.pass_probes.size() != measured.pass_seconds.size()) return;
  for (std::size_t i = 0; i < measured.pass_seconds.size(); ++i) {
    row.seconds.push_back(measured.pass_seconds[i]);
    row.round_trip_seconds.push_back(measured.pass_probes[i].round_trip_seconds);
  }
}

std::vector<double> state_boundaries(const std::vector<RowPasses>& rows) { return confirmed(rows, false); }

std::vector<double> state_boundaries_of_two(const std::vector<RowPasses>& base,
                                            const std::vector<RowPasses>& current) {
  std::vector<RowPasses> both = base;
  both.insert(both.end(), current.begin(), current.end());
  return confirmed(both, true);
}

std::vector<LaunchInState> launches_by_state(const Measurement& measured,
                                             const std::vector<double>& boundaries) {
  std::vector<LaunchInState> launches;
  std::size_t pass = 0;
  for (const int count : measured.launch_passes) {
    if (count < 0 || static_cast<std::size_t>(count) > measured.pass_probes.size() - pass) return {};
    std::vector<LaunchInState> states(boundaries.size() + 1);
    for (const std::size_t end = pass + static_cast<std::size_t>(count); pass < end; ++pass) {
      const double round_trip = measured.pass_probes[pass].round_trip_seconds;
      if (!says_state(round_trip, boundaries)) continue;
      const std::size_t state = group_of(round_trip, boundaries);
      states[state].state = state;
      states[state].pass_seconds.push_back(measured.pass_seconds[pass]);
    }
    const auto most = std::find_if(states.begin(), states.end(), [count](const LaunchInState& each) {
      return 2 * each.pass_seconds.size() > static_cast<std::size_t>(count);
    });
    if (most != states.end()) launches.push_back(std::move(*most));
  }
  return launches;
}

std::string format_round_trip(double seconds) {
  return seconds >= 0 && seconds < 1 ? fmt::format("{:.0f} ns", seconds * 1e9) : "–";
}

void tell_states(Run& run) {
  std::vector<RowPasses> rows(run.rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    run.rows[i].measurement.states.clear();
    add_passes(rows[i], run.rows[i].measurement);
  }
  const RunStates states = states_of(rows);
  if (states.boundaries.empty()) return;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (!rows[i].seconds.empty()) split_by_state(run.rows[i].measurement, states, run.repeated);
  }
}

std::vector<StateShare> state_shares(const Run& run) {
  std::vector<StateShare> shares;
  double passes = 0;
  for (const Row& row : run.rows) {
    for (const RowState& state : row.measurement.states) {
      const auto known = std::find_if(shares.begin(), shares.end(), [&](const StateShare& each) {
        return each.min_round_trip_seconds == state.min_round_trip_seconds;
      });
      StateShare& share =
          known != shares.end()
              ? *known
              : shares.emplace_back(StateShare{.min_round_trip_seconds = state.min_round_trip_seconds,
                                               .max_round_trip_seconds = state.max_round_trip_seconds});
      share.passes += state.passes;
      share.launches = std::max(share.launches, state.launches);
      passes += state.passes;
    }
  }
  for (StateShare& share : shares) share.passes /= std::max(passes, 1.0);
  std::sort(shares.begin(), shares.end(), [](const StateShare& a, const StateShare& b) {
    return a.passes != b.passes ? a.passes > b.passes : a.min_round_trip_seconds < b.min_round_trip_seconds;
  });
  return shares;
}

}  // namespace collbench::analysis
