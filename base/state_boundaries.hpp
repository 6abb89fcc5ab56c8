#pragma once
#include <cstddef>
#include <optional>
#include <vector>

// In which state of the machine a pass ran, told by the probe beside it (docs/statistics.md).

namespace collbench {

/// Where positive values fall into groups that lie clearly apart: the boundaries between them, rising; empty
/// where they are one group. Two groups lie apart where the gap between them is a factor of 1.2 or more and
/// at least half as wide, on a logarithmic scale, as the middle 80 % of either group, and each has at least
/// five of the values and a twentieth of all: a few disturbed values are no group. The widest such gap
/// divides first, then each side is looked at alone. Values of 0 and below are passed over.
[[nodiscard]] std::vector<double> group_boundaries(std::vector<double> values);

/// In which of the groups a value lies, counted from the lowest.
[[nodiscard]] std::size_t group_of(double value, const std::vector<double>& boundaries);

/// The passes of one row, each with the round trip of the probe beside it (MachineProbe); of equal length.
struct RowPasses {
  std::vector<double> seconds;
  std::vector<double> round_trip_seconds;
};

/// The round trips between the states of the machine on which these rows ran, rising; empty where it had one.
/// States lie apart in the probes (group_boundaries), and times follow them: between two states, in
/// at least a quarter of the rows that have three passes in each, medians differ by a tenth or more, and the
/// middle 80 % of the passes do not overlap. So neither a probe that varies alone makes a state, nor do
/// times.
[[nodiscard]] std::vector<double> state_boundaries(const std::vector<RowPasses>& rows);

/// The same of the rows of two runs to be compared. Where each run stayed on its own side of a gap no time
/// can follow it; then it counts as a boundary where the medians of the round trips on its sides differ by a
/// half: what the runs differ in may be the state, and nothing tells.
[[nodiscard]] std::vector<double> state_boundaries_of_two(const std::vector<RowPasses>& base,
                                                          const std::vector<RowPasses>& current);

/// So far apart are round trips of two states where no time can tell: by this factor.
inline constexpr double kMinFactorWithoutTimes = 1.5;

/// Between which boundaries a round trip lies, counted from the shortest; none of one that is not known (0)
/// where there are several states.
[[nodiscard]] std::optional<std::size_t> state_of(double round_trip_seconds,
                                                  const std::vector<double>& boundaries);

/// The states between `boundaries`: that of most passes of all rows first, of equals the one with the
/// shorter round trips.
[[nodiscard]] std::vector<std::size_t> commonest_states(const std::vector<RowPasses>& rows,
                                                        const std::vector<double>& boundaries);

/// Of one row, the times of the passes that ran in `state`.
[[nodiscard]] std::vector<double> seconds_in_state(const RowPasses& row,
                                                   const std::vector<double>& boundaries, std::size_t state);

}  // namespace collbench
