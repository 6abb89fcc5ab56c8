#include "analysis/verdict/verdict.hpp"

#include <gtest/gtest.h>

#include "base/units.hpp"

namespace collbench::analysis::verdict_test {
namespace {

/// Ring 10 s, best 8 s, band from 12 s to 7 s; `seconds` measured. The size grows with `index` from 16 MiB.
Row row_of(int index, double seconds) {
  Row row;
  row.measurement.key.size_bytes = (16 * kMiB) << static_cast<unsigned>(index);
  row.measurement.seconds = seconds;
  row.expectation.ring_seconds = 10;
  row.expectation.expected_seconds = 8;
  row.expectation.fastest_seconds = 7;
  row.expectation.slowest_seconds = 12;
  return row;
}

VerdictWord verdict(const std::vector<Row>& rows) {
  const auto all_series = series_of(rows);
  EXPECT_EQ(all_series.size(), 1U);
  return verdict_of(all_series.front());
}

std::vector<Row> rows_of(std::initializer_list<double> seconds) {
  std::vector<Row> rows;
  for (const double each : seconds) rows.push_back(row_of(static_cast<int>(rows.size()), each));
  return rows;
}

TEST(Verdict, TheMedianOfTheThreeLargestDecidesWithoutIntervals) {
  EXPECT_EQ(verdict(rows_of({9, 9, 9, 9, 9})), VerdictWord::as_expected);
  EXPECT_EQ(verdict(rows_of({99, 99, 11, 99, 9})), VerdictWord::as_expected);  // one dip is no verdict
  EXPECT_EQ(verdict(rows_of({9, 9, 13, 13, 9})), VerdictWord::low);
  EXPECT_EQ(verdict(rows_of({9, 9, 21, 21, 9})), VerdictWord::fault);
  EXPECT_EQ(verdict(rows_of({9, 9, 19.9, 19.9, 9})), VerdictWord::low);  // half of the ring is 20 s
  EXPECT_EQ(verdict(rows_of({9, 9, 7.5, 7.5, 9})), VerdictWord::model_or_ranks_wrong);  // 8/7.5 > 1.05
  EXPECT_EQ(verdict(rows_of({9, 9, 7.7, 7.7, 9})), VerdictWord::as_expected);
}

TEST(Verdict, NeverLowOnOneRowOfALog) {
  EXPECT_EQ(verdict(rows_of({9, 9, 13})), VerdictWord::none);  // 16, 32, 64 MiB
  EXPECT_EQ(verdict(rows_of({9, 9, 9})), VerdictWord::as_expected);
  EXPECT_EQ(verdict(rows_of({9, 9, 13, 13})), VerdictWord::low);
  EXPECT_EQ(verdict(rows_of({9, 9, 40})),
            VerdictWord::fault);  // no dip of a healthy log goes below half the ring
}

TEST(Verdict, SmallRowsAloneAreNotJudged) { EXPECT_EQ(verdict(rows_of({50, 50})), VerdictWord::none); }

TEST(Verdict, WithIntervalsTwoNeighboursOrOneLargeRowAreLow) {
  auto rows = rows_of({13, 9, 9, 9});
  for (Row& row : rows) {
    row.measurement.interval = {row.measurement.seconds * 0.97, row.measurement.seconds * 1.03, 0.95};
  }
  EXPECT_EQ(verdict(rows), VerdictWord::as_expected);  // one row below 64 MiB
  auto neighbours = rows;
  neighbours[1].measurement.interval = {12.5, 13.5, 0.95};
  EXPECT_EQ(verdict(neighbours), VerdictWord::low);
  auto large = rows;
  large[3].measurement.interval = {12.1, 13.5, 0.95};
  EXPECT_EQ(verdict(large), VerdictWord::low);
  large[3].measurement.interval = {11.9, 13.5, 0.95};  // part of it lies in the band
  EXPECT_EQ(verdict(large), VerdictWord::as_expected);
}

TEST(Verdict, WithoutABandThereIsNone) {
  auto rows = rows_of({90, 90, 90, 90});
  for (Row& row : rows) row.expectation = {};
  EXPECT_EQ(verdict(rows), VerdictWord::none);
}

TEST(Verdict, SweepsAreByKeyAndInTheOrderOfSizes) {
  auto rows = rows_of({1, 2, 3, 4});
  std::swap(rows[0], rows[3]);
  rows[1].measurement.key.in_place = true;
  rows[2].measurement.unavailable = "no";
  const auto all_series = series_of(rows);
  ASSERT_EQ(all_series.size(), 2U);
  EXPECT_EQ(all_series[0], (SizeSeries{&rows[3], rows.data()}));
  EXPECT_EQ(all_series[1], SizeSeries{&rows[1]});
}

}  // namespace
}  // namespace collbench::analysis::verdict_test
