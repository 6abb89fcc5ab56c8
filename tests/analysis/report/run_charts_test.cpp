#include "analysis/report/run_charts.hpp"

#include <gmock/gmock.h>

#include "tests/analysis/example_run.hpp"

namespace collbench::analysis {
namespace {

using testing::DoubleEq;
using testing::ElementsAre;
using testing::SizeIs;

/// Two sizes of an AllReduce of 4 ranks, 1 and 2 ms.
Run run_of_two_sizes() {
  Run run;
  run.ranks.resize(4);
  for (const std::uint64_t size : {std::uint64_t{1'000'000}, std::uint64_t{4'000'000}}) {
    Row row;
    row.measurement.key = {
        .operation = OperationId::all_reduce, .size_bytes = size, .reduction = Reduction::sum};
    row.measurement.seconds = size == 1'000'000 ? 1e-3 : 2e-3;
    row.expectation.ring_seconds = row.expectation.expected_seconds = 1e-3;
    row.expectation.expected_by = "ring";
    run.rows.push_back(row);
  }
  return run;
}

TEST(RunCharts, BusBandwidthFollowsFromTimes) {
  auto run = run_of_two_sizes();
  run.rows[1].measurement.interval = TimeInterval{1.6e-3, 2.4e-3, 0.95, false};
  run.rows[1].expectation.fastest_seconds = 1e-3;
  run.rows[1].expectation.slowest_seconds = 3e-3;
  const std::vector<OperationCharts> all = run_charts(run);
  ASSERT_THAT(all, SizeIs(1));
  ASSERT_THAT(all[0].charts, SizeIs(2));
  const Chart& busbw = all[0].charts[0];
  EXPECT_EQ(busbw.title, "AllReduce: bus bandwidth by size (float sum, out of place)");
  ASSERT_THAT(busbw.series, SizeIs(3));
  EXPECT_EQ(busbw.series[0].name, "measured");
  ASSERT_THAT(busbw.series[0].points, SizeIs(2));
  // 4 MB in 2 ms are 2 GB/s, times 2 (n - 1) / n = 1.5; the quicker end of the interval is the higher rate.
  const ChartPoint& large = busbw.series[0].points[1];
  EXPECT_THAT(large.y, DoubleEq(3));
  EXPECT_THAT(large.low.value_or(0), DoubleEq(2.5));
  EXPECT_THAT(large.high.value_or(0), DoubleEq(3.75));
  EXPECT_EQ(busbw.series[1].name, "expected");
  EXPECT_THAT(busbw.series[1].points[1].y, DoubleEq(6));
  EXPECT_EQ(busbw.series[2].name, "ring");
  ASSERT_THAT(busbw.bands, SizeIs(1));
  ASSERT_THAT(busbw.bands[0].edges, SizeIs(1));
  EXPECT_THAT(busbw.bands[0].edges[0].low, DoubleEq(2));
  EXPECT_THAT(busbw.bands[0].edges[0].high, DoubleEq(6));
  const Chart& time = all[0].charts[1];
  EXPECT_THAT(time.series[0].points[1].y, DoubleEq(2e-3));
  EXPECT_THAT(time.series[0].points[1].low.value_or(0), DoubleEq(1.6e-3));
}

TEST(RunCharts, SimulatedGpusAreSaidInEachTitle) {
  auto run = run_of_two_sizes();
  run.gpus_simulated = true;
  for (const Chart& chart : all_charts(run))
    EXPECT_THAT(chart.title, testing::EndsWith("SIMULATED GPUs: no time is a GPU's"));
}

TEST(RunCharts, SeriesThatShareAModelShareItsLine) {
  auto run = run_of_two_sizes();
  for (Row row : run_of_two_sizes().rows) {
    row.measurement.key.in_place = true;
    row.measurement.seconds *= 3;
    run.rows.push_back(row);
  }
  const Chart chart = run_charts(run)[0].charts[0];
  ASSERT_THAT(chart.series, SizeIs(4));
  EXPECT_EQ(chart.series[0].name, "measured: float sum, out of place");
  EXPECT_EQ(chart.series[1].name, "measured: float sum, in place");
  EXPECT_EQ(chart.series[2].name, "expected");
  run.rows[2].expectation.expected_seconds = 5e-3;
  const Chart two = run_charts(run)[0].charts[0];
  ASSERT_THAT(two.series, SizeIs(5));
  EXPECT_EQ(two.series[4].name, "expected (float sum, in place)");
}

TEST(RunCharts, ManySeriesAreSeveralCharts) {
  collbench::Run run;
  run.ranks.resize(4);
  for (int i = 0; i < 8; ++i) {
    for (Row row : run_of_two_sizes().rows) {
      row.measurement.key.algorithm = "algorithm" + std::to_string(i);
      run.rows.push_back(row);
    }
  }
  const std::vector<OperationCharts> all = run_charts(run);
  ASSERT_THAT(all[0].charts, SizeIs(4));
  EXPECT_EQ(all[0].charts[0].id, "busbw-all_reduce-1");
  EXPECT_EQ(all[0].charts[3].id, "time-all_reduce-2");
}

TEST(RunCharts, EachRootIsASeriesSoThatNoneOfItsNumbersIsLost) {
  collbench::Run run;
  run.ranks.resize(4);
  for (const std::uint64_t size : {std::uint64_t{65536}, std::uint64_t{131072}}) {
    for (const int root : {0, 1}) {
      Row row;
      row.measurement.key = {
          .operation = OperationId::broadcast, .size_bytes = size, .reduction = {}, .root = root};
      row.measurement.seconds = root == 0 ? 1e-3 : 2e-3;
      run.rows.push_back(row);
    }
  }
  const Chart chart = run_charts(run).at(0).charts.back();
  ASSERT_THAT(chart.series, SizeIs(2));
  EXPECT_THAT(chart.series[0].name, testing::EndsWith(", root 0"));
  EXPECT_THAT(chart.series[1].name, testing::EndsWith(", root 1"));
  const std::vector<std::vector<std::string>> table = chart_table(chart);
  ASSERT_THAT(table, SizeIs(3));
  EXPECT_THAT(table[1], ElementsAre("64 KiB", "1 ms", "2 ms"));
}

TEST(RunCharts, WhatWasNotMeasuredIsNotDrawn) {
  auto run = run_of_two_sizes();
  run.rows[0].measurement.unavailable = "not here";
  run.rows[0].measurement.seconds = 0;
  EXPECT_THAT(run_charts(run)[0].charts[0].series[0].points, SizeIs(1));
  run.rows[1].measurement.seconds = 0;
  EXPECT_THAT(run_charts(run), SizeIs(0));
}

TEST(RunCharts, OneRankMovesNothingAndHasNoRate) {
  auto run = run_of_two_sizes();
  run.ranks.resize(1);
  const std::vector<OperationCharts> all = run_charts(run);
  ASSERT_THAT(all[0].charts, SizeIs(1));
  EXPECT_EQ(all[0].charts[0].id, "time-all_reduce");
}

}  // namespace
}  // namespace collbench::analysis
