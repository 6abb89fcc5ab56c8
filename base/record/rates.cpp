#include "base/record/rates.hpp"

#include <cmath>

namespace collbench {
namespace {

/// `value` where it says something: above zero and finite.
std::optional<double> meaningful(double value) {
  if (!std::isfinite(value) || value <= 0) return std::nullopt;
  return value;
}

std::optional<double> bus_bandwidth_of(const RowKey& key, int ranks, std::optional<double> seconds) {
  if (!seconds || !meaningful(*seconds)) return std::nullopt;
  return meaningful(bus_bandwidth(operation(key.operation), key.size_bytes, ranks, *seconds));
}

}  // namespace

Rates rates(const Row& row, int ranks) {
  const RowKey& key = row.measurement.key;
  const std::optional<double> seconds = meaningful(row.measurement.seconds);
  Rates result;
  if (seconds) {
    result.algorithm_bandwidth =
        meaningful(algorithm_bandwidth(operation(key.operation), key.size_bytes, ranks, *seconds));
  }
  result.bus_bandwidth = bus_bandwidth_of(key, ranks, seconds);
  result.ring_bus_bandwidth = bus_bandwidth_of(key, ranks, row.expectation.ring_seconds);
  result.tree_bus_bandwidth = bus_bandwidth_of(key, ranks, row.expectation.tree_seconds);
  result.expected_bus_bandwidth = bus_bandwidth_of(key, ranks, row.expectation.expected_seconds);
  if (result.bus_bandwidth && result.expected_bus_bandwidth) {
    result.measured_over_expected = meaningful(*result.bus_bandwidth / *result.expected_bus_bandwidth);
  }
  return result;
}

std::optional<double> interval_half_width(const Measurement& measurement) {
  if (!measurement.interval || !meaningful(measurement.seconds)) return std::nullopt;
  const double half = (measurement.interval->high_seconds - measurement.interval->low_seconds) / 2;
  // A width of zero says something: every pass took the same time, as in simulated time.
  if (!std::isfinite(half) || half < 0) return std::nullopt;
  return half / measurement.seconds;
}

}  // namespace collbench
