#include "analysis/states/machine_states.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "base/record/measured_block.hpp"
#include "base/statistics.hpp"

namespace collbench::analysis {
namespace {

constexpr double kTailOfPasses = 0.1;  // on each side

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
  states.by_passes = commonest_states(rows, states.boundaries);
  std::vector<std::vector<double>> round_trips(states.by_passes.size());
  for (const RowPasses& row : rows) {
    for (const double each : row.round_trip_seconds)
      if (const auto state = state_of(each, states.boundaries)) round_trips[*state].push_back(each);
  }
  for (const std::vector<double>& each : round_trips) {
    states.min_round_trip.push_back(each.empty() ? 0 : *std::ranges::min_element(each));
    states.max_round_trip.push_back(each.empty() ? 0 : *std::ranges::max_element(each));
  }
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
    const std::vector<double> passes = seconds_in_state(row, states.boundaries, state);
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
    found.interval = time_interval(times, over_launches);
    if (measured.states.size() > 1) continue;
    measured.seconds = found.seconds;
    measured.interval = found.interval;
    measured.launch_variation = over_launches ? launch_variation(launches, found.seconds) : std::nullopt;
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

std::vector<double> launch_medians(const Measurement& measured) {
  std::vector<double> medians;
  auto pass = measured.pass_seconds.begin();
  for (const int passes : measured.launch_passes) {
    if (passes <= 0 || passes > measured.pass_seconds.end() - pass) return {};
    medians.push_back(median({pass, pass + passes}));
    pass += passes;
  }
  return medians;
}

std::vector<double> times_of_launches(const Measurement& measured) {
  const std::vector<double> times = launch_medians(measured);
  return times.size() < 2 ? std::vector{measured.seconds} : times;
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
      const auto state = state_of(round_trip, boundaries);
      if (!state) continue;
      states[*state].state = *state;
      states[*state].pass_seconds.push_back(measured.pass_seconds[pass]);
    }
    const auto most = std::ranges::find_if(states, [count](const LaunchInState& each) {
      return 2 * each.pass_seconds.size() > static_cast<std::size_t>(count);
    });
    if (most != states.end()) launches.push_back(std::move(*most));
  }
  return launches;
}

std::optional<OtherCalibrationState> other_calibration_state(const Run& run) {
  constexpr std::size_t kMinProbes = 5;
  if (!run.calibration) return std::nullopt;
  std::vector<double> calibration;
  for (const MachineProbe& probe : run.calibration->probes)
    if (probe.round_trip_seconds > 0) calibration.push_back(probe.round_trip_seconds);
  std::vector<RowPasses> rows(run.rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) add_passes(rows[i], run.rows[i].measurement);
  const std::vector<double> boundaries = state_boundaries(rows);
  const std::size_t commonest = commonest_states(rows, boundaries).front();
  std::vector<double> passes;
  for (const RowPasses& row : rows) {
    for (const double each : row.round_trip_seconds)
      if (each > 0 && state_of(each, boundaries) == commonest) passes.push_back(each);
  }
  if (calibration.size() < kMinProbes || passes.size() < kMinProbes) return std::nullopt;
  const double calibrated = median(calibration);
  const double usual = median(passes);
  const bool is_reached =
      quantile(passes, kTailOfPasses) <= calibrated && calibrated <= quantile(passes, 1 - kTailOfPasses);
  const double factor = std::max(calibrated, usual) / std::min(calibrated, usual);
  if (is_reached || factor < kMinFactorWithoutTimes) return std::nullopt;
  return OtherCalibrationState{calibrated, usual};
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

bool are_all_passes(double share_of_passes) { return share_of_passes >= 0.995; }

std::vector<StateShare> state_shares(const Run& run) {
  std::vector<StateShare> shares;
  double passes = 0;
  for (const Row& row : run.rows) {
    for (const RowState& state : row.measurement.states) {
      const auto known =
          std::ranges::find(shares, state.min_round_trip_seconds, &StateShare::min_round_trip_seconds);
      StateShare& share =
          known != shares.end()
              ? *known
              : shares.emplace_back(StateShare{.min_round_trip_seconds = state.min_round_trip_seconds,
                                               .max_round_trip_seconds = state.max_round_trip_seconds});
      share.passes += state.passes;
      share.launches = std::max(share.launches, state.launches);
    }
    passes += static_cast<double>(row.measurement.pass_probes.size());
  }
  for (StateShare& share : shares) share.passes /= std::max(passes, 1.0);
  std::ranges::sort(shares, [](const StateShare& a, const StateShare& b) {
    return a.passes != b.passes ? a.passes > b.passes : a.min_round_trip_seconds < b.min_round_trip_seconds;
  });
  return shares;
}

}  // namespace collbench::analysis
