#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "base/record/run.hpp"

namespace collbench::analysis {

/// The passes of one row, each with the round trip of the probe beside it (MachineProbe); of equal length.
struct RowPasses {
  std::vector<double> seconds;
  std::vector<double> round_trip_seconds;
};

/// Appends the passes of `measured`; none where nobody looked at the machine.
void add_passes(RowPasses& row, const Measurement& measured);

/// The round trips between the states of the machine on which these rows ran, rising; empty where it had one.
/// States lie apart in the probes (base/separate_groups.hpp), and times follow them: between two states, in
/// at least a quarter of the rows that have three passes in each, medians differ by a tenth or more, and the
/// middle 80 % of the passes do not overlap. So neither a probe that varies alone makes a state, nor do
/// times.
[[nodiscard]] std::vector<double> state_boundaries(const std::vector<RowPasses>& rows);

/// The same of the rows of two runs to be compared. Where each run stayed on its own side of a gap no time
/// can follow it; then it counts as a boundary where the medians of the round trips on its sides differ by a
/// half: what the runs differ in may be the state, and nothing tells.
[[nodiscard]] std::vector<double> state_boundaries_of_two(const std::vector<RowPasses>& base,
                                                          const std::vector<RowPasses>& current);

/// A launch that spent more than half of a row's passes in one state.
struct LaunchInState {
  std::size_t state = 0;             ///< counted from the shortest round trips
  std::vector<double> pass_seconds;  ///< in this state
};

/// The launches of a row in their order. One that changed its state so often that it was in none for half of
/// its passes is left out. Precondition: the row has probes.
[[nodiscard]] std::vector<LaunchInState> launches_by_state(const Measurement& measured,
                                                           const std::vector<double>& boundaries);

/// Gives each row its states where the machine had several: its passes by the state that they ran in, the
/// commonest of the run first. The row's time, interval and variation become those of the first. Over
/// launches, one counts for the state that most of its passes of the row were in, with the median of these.
/// Rows of a machine with one state stay as they are.
void tell_states(Run& run);

/// "110 ns"; "–" for what is no length of time.
[[nodiscard]] std::string format_round_trip(double seconds);

/// The share of all passes of the run in each state, in the order of the rows' states, with the round trips
/// that it was told by; empty where no row has states.
struct StateShare {
  double min_round_trip_seconds = 0;
  double max_round_trip_seconds = 0;
  double passes = 0;  ///< of all, from 0 to 1
  int launches = 0;   ///< of the row that has most in this state
};
[[nodiscard]] std::vector<StateShare> state_shares(const Run& run);

}  // namespace collbench::analysis
