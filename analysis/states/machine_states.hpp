#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "base/record/run.hpp"
#include "base/state_boundaries.hpp"

namespace collbench::analysis {

/// Appends the passes of `measured`; none where nobody looked at the machine.
void add_passes(RowPasses& row, const Measurement& measured);

/// Of each launch the median of its passes; empty where they are not known launch by launch.
[[nodiscard]] std::vector<double> launch_medians(const Measurement& measured);

/// The same; of a row that is of one launch, or not known launch by launch, its time alone.
[[nodiscard]] std::vector<double> times_of_launches(const Measurement& measured);

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

/// Where the calibration met another state of the machine than the commonest of the run's passes.
struct OtherCalibrationState {
  double calibration_round_trip_seconds = 0;  ///< the median of its probes
  double run_round_trip_seconds = 0;          ///< of the passes in the run's commonest state
};

/// None where the medians differ by less than a half, or where the middle 80 % of the passes reach to the
/// calibration's; none with fewer than five probes of either.
[[nodiscard]] std::optional<OtherCalibrationState> other_calibration_state(const Run& run);

/// "110 ns"; "–" for what is no length of time.
[[nodiscard]] std::string format_round_trip(double seconds);

/// Whether shares of the passes add up to all of them, but for what no report would print. What is missing
/// are passes whose probe had no round trip: nobody knows their state.
[[nodiscard]] bool are_all_passes(double share_of_passes);

/// The share of all passes of the run in each state, in the order of the rows' states, with the round trips
/// that it was told by; empty where no row has states. Where a probe was in none they add up to less than 1.
struct StateShare {
  double min_round_trip_seconds = 0;
  double max_round_trip_seconds = 0;
  double passes = 0;  ///< of all, from 0 to 1
  int launches = 0;   ///< of the row that has most in this state
};
[[nodiscard]] std::vector<StateShare> state_shares(const Run& run);

// Launches whose time was up before a block of some row could begin.

/// Whether the time of a row is that of a few first calls, which nothing has warmed up: the launch's time was
/// up, and the calls took less in all than a pilot has to take to be believed, 1 ms
/// (collectives/engine/measurement_loop.cpp). Seen on two cores beside 20 other processes: 2.6 µs for 8 B,
/// where blocks took 0.43.
[[nodiscard]] bool had_no_time(const Measurement& measured);

/// Of one row in several launches: without those that had no time for it; all where none had.
[[nodiscard]] std::vector<const Row*> rows_with_time(const std::vector<const Row*>& rows);

/// "2 of 8 launches had no time left for some rows, …"; empty where all had.
[[nodiscard]] std::string short_launches(const std::vector<Run>& launches);

/// The same of a record of several launches, by the rows that not all of them measured.
[[nodiscard]] std::string short_launches(const Run& merged);

}  // namespace collbench::analysis
