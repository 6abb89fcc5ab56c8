#include "base/record/rates.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace collbench::rates_test {
namespace {

/// AllReduce of 1 GB in half a second on four ranks: algbw 2 GB/s, bus factor 1.5.
Row all_reduce() {
  Row row;
  row.measurement.key.size_bytes = 1'000'000'000;
  row.measurement.seconds = 0.5;
  row.expectation = {0.4, 0.8, 0.25, "ring"};
  return row;
}

TEST(Rates, FollowFromTheTimes) {
  const Rates result = rates(all_reduce(), 4);
  EXPECT_DOUBLE_EQ(result.algorithm_bandwidth.value(), 2e9);
  EXPECT_DOUBLE_EQ(result.bus_bandwidth.value(), 3e9);
  EXPECT_DOUBLE_EQ(result.ring_bus_bandwidth.value(), 3.75e9);
  EXPECT_DOUBLE_EQ(result.tree_bus_bandwidth.value(), 1.875e9);
  EXPECT_DOUBLE_EQ(result.expected_bus_bandwidth.value(), 6e9);
}

TEST(Rates, MeasuredOverExpectedIsBelowOneWhenSlower) {
  EXPECT_DOUBLE_EQ(rates(all_reduce(), 4).measured_over_expected.value(), 0.5);
}

TEST(Rates, NoneWithoutATime) {
  Row row = all_reduce();
  for (const double seconds : {0.0, -1.0, std::nan(""), std::numeric_limits<double>::infinity()}) {
    row.measurement.seconds = seconds;
    const Rates result = rates(row, 4);
    EXPECT_FALSE(result.algorithm_bandwidth);
    EXPECT_FALSE(result.bus_bandwidth);
    EXPECT_FALSE(result.measured_over_expected);
    EXPECT_TRUE(result.expected_bus_bandwidth);
  }
}

TEST(Rates, NoneWhereTheModelDoesNotExist) {
  Row row = all_reduce();
  row.expectation = {};
  const Rates result = rates(row, 4);
  EXPECT_FALSE(result.ring_bus_bandwidth || result.tree_bus_bandwidth || result.expected_bus_bandwidth);
  EXPECT_FALSE(result.measured_over_expected);
}

TEST(Rates, OneRankMovesNothingOverABus) {
  const Rates result = rates(all_reduce(), 1);
  EXPECT_TRUE(result.algorithm_bandwidth);
  EXPECT_FALSE(result.bus_bandwidth);
}

TEST(IntervalHalfWidth, IsRelativeToTheTime) {
  Measurement measurement;
  measurement.seconds = 0.5;
  EXPECT_FALSE(interval_half_width(measurement));
  measurement.interval = {0.45, 0.65, 0.97};
  EXPECT_DOUBLE_EQ(interval_half_width(measurement).value(), 0.2);
  measurement.interval = {0.5, 0.5, 0.97};
  EXPECT_EQ(interval_half_width(measurement), 0.0);
  measurement.seconds = 0;
  EXPECT_FALSE(interval_half_width(measurement));
}

}  // namespace
}  // namespace collbench::rates_test
