#include "collectives/row_samples.hpp"

#include <gtest/gtest.h>

namespace collbench {
namespace {

TEST(RowSamples, TheTimeIsTheMedianOfThePassesAndTheRestIsOverSamples) {
  RowSamples row;
  const std::vector<double> across{3, 5};
  for (const double pass : {4.0, 5.0, 6.0, 4.5, 5.5, 100.0}) {
    row.add(Block{.elapsed_seconds = 2, .samples = {1, 2}}, pass, across, 20, 10);
  }
  Measurement measurement;
  row.summarise(measurement);
  EXPECT_DOUBLE_EQ(measurement.seconds, 5.25);
  ASSERT_TRUE(measurement.interval);
  EXPECT_DOUBLE_EQ(measurement.interval->low_seconds, 4);
  EXPECT_DOUBLE_EQ(measurement.interval->high_seconds, 100);
  EXPECT_EQ(measurement.iterations, 120U);
  EXPECT_EQ(measurement.iterations_per_sample, 10U);
  EXPECT_EQ(measurement.samples, 12U);
  EXPECT_DOUBLE_EQ(measurement.minimum, 3);
  EXPECT_DOUBLE_EQ(measurement.mean, 4);
  EXPECT_DOUBLE_EQ(measurement.p99, 5);
  EXPECT_DOUBLE_EQ(row.own_times(3).median_seconds, 1.5);
  EXPECT_EQ(row.own_times(3).rank, 3);
}

TEST(RowSamples, NoIntervalFromFivePasses) {
  RowSamples row;
  const std::vector<double> across{1};
  for (int i = 0; i < 5; ++i) row.add(Block{.elapsed_seconds = 1, .samples = {1}}, 1, across, 1, 1);
  Measurement measurement;
  row.summarise(measurement);
  EXPECT_FALSE(measurement.interval);
}

TEST(RowSamples, NothingMeasuredIsNothingSaid) {
  const RowSamples row;
  Measurement measurement;
  row.summarise(measurement);
  EXPECT_EQ(measurement.iterations, 0U);
  EXPECT_EQ(row.own_times(0).median_seconds, 0);
}

}  // namespace
}  // namespace collbench
