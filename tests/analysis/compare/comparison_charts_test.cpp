#include "analysis/compare/comparison_report.hpp"

#include <gmock/gmock.h>

namespace collbench::analysis::comparison_charts_test {
namespace {

using testing::DoubleEq;
using testing::SizeIs;

ComparedRow compared_row(std::uint64_t size_bytes, double base_seconds, double ratio) {
  ComparedRow row;
  row.key = {.operation = OperationId::all_reduce, .size_bytes = size_bytes, .reduction = Reduction::sum};
  row.change = RowChange::slower;
  row.base = {base_seconds, 1};
  row.current = {base_seconds * ratio, 1};
  row.ratio = ratio;
  row.ratio_low = ratio - 0.1;
  row.ratio_high = ratio + 0.1;
  return row;
}

Comparison comparison_of_two_sizes() {
  Comparison comparison;
  comparison.base_name = "last.json";
  comparison.current_name = "today.json";
  comparison.ranks = 4;
  comparison.rows = {compared_row(4'000'000, 2e-3, 2), compared_row(1'000'000, 1e-3, 1.25)};
  return comparison;
}

TEST(ComparisonCharts, ShowBothSidesAndTheirRatio) {
  const std::vector<Chart> charts = comparison_charts(comparison_of_two_sizes());
  ASSERT_THAT(charts, SizeIs(2));
  EXPECT_EQ(charts[0].id, "busbw-all_reduce");
  ASSERT_THAT(charts[0].series, SizeIs(2));
  EXPECT_EQ(charts[0].series[0].name, "base: last.json");
  EXPECT_EQ(charts[0].series[1].name, "new: today.json");
  // 4 MB in 2 ms are 2 GB/s, times 2 (n - 1) / n = 1.5.
  EXPECT_THAT(charts[0].series[0].points[1].y, DoubleEq(3));
  EXPECT_THAT(charts[0].series[1].points[1].y, DoubleEq(1.5));
  EXPECT_EQ(charts[1].id, "ratio-all_reduce");
  EXPECT_EQ(charts[1].series[0].points[0], (ChartPoint{1e6, 1.25, 1.15, 1.35, "SLOWER"}));
  ASSERT_THAT(charts[1].references, SizeIs(1));
  EXPECT_EQ(charts[1].references[0].y, 1);
}

TEST(ComparisonCharts, WhatASideLacksIsInNone) {
  Comparison comparison = comparison_of_two_sizes();
  comparison.rows[0].ratio = 0;
  EXPECT_THAT(comparison_charts(comparison)[0].series[0].points, SizeIs(1));
  comparison.rows[1].ratio = 0;
  EXPECT_THAT(comparison_charts(comparison), SizeIs(0));
}

TEST(ComparisonCharts, AnotherKindOfRowIsAnotherChart) {
  Comparison comparison = comparison_of_two_sizes();
  comparison.rows[0].key.in_place = true;
  const std::vector<Chart> charts = comparison_charts(comparison);
  ASSERT_THAT(charts, SizeIs(4));
  EXPECT_EQ(charts[2].id, "busbw-all_reduce-2");
}

}  // namespace
}  // namespace collbench::analysis::comparison_charts_test
