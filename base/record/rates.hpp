#pragma once
#include <optional>

#include "base/record/run.hpp"

namespace collbench {

/// What follows from a row's times. Rates are derived from times and never averaged. Bytes per second; none
/// where there is no time to derive them from, or where one rank moves nothing.
struct Rates {
  std::optional<double> algorithm_bandwidth;
  std::optional<double> bus_bandwidth;
  std::optional<double> ring_bus_bandwidth;  ///< expected, as are the next two
  std::optional<double> tree_bus_bandwidth;
  std::optional<double> expected_bus_bandwidth;
  /// Measured over expected bus bandwidth: 1 is as expected, below 1 is slower.
  std::optional<double> measured_over_expected;
};

/// The rates of a row that `ranks` ranks ran.
[[nodiscard]] Rates rates(const Row& row, int ranks);

/// Half the width of the row's interval over its time (0.05 is ±5 %); none without an interval.
[[nodiscard]] std::optional<double> interval_half_width(const Measurement& measurement);

}  // namespace collbench
