#include "analysis/report/columns.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>
#include <map>

#include "base/document/text_layout.hpp"
#include "tests/analysis/example_run.hpp"

namespace collbench::analysis::columns_test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

/// The cells of a row by the titles of their columns.
std::map<std::string, std::string> cells(const Row& row, int ranks = 4) {
  collbench::Run run;
  run.rows = {row};
  std::map<std::string, std::string> result;
  const ReportRow report_row{row, rates(row, ranks)};
  for (const ReportColumn& column : report_columns(run)) {
    result[std::string(column.title)] = column.cell(report_row);
  }
  return result;
}

Tone tone_of(const Row& row, std::string_view title) {
  for (const ReportColumn& column : report_columns(collbench::Run{})) {
    if (column.title == title && column.tone != nullptr) return column.tone({row, rates(row, 4)});
  }
  return Tone::plain;
}

TEST(ReportColumns, StandInTheOrderThatPeopleKnow) {
  std::string titles;
  for (const ReportColumn& column : report_columns(collbench::Run{}))
    titles += std::string(column.title) + " ";
  EXPECT_EQ(
      titles,
      "size count type redop root place time ±95% enqueue algbw busbw #wrong ring tree exp meas algorithm ");
}

TEST(ReportColumns, ShowRootsWhereThereAreSome) {
  Row row = example_row(OperationId::broadcast, 4096, 10);
  const std::size_t without = columns_for(collbench::Run{}, {{row, {}}}).size();
  EXPECT_EQ(cells(row)["root"], "–") << "a log that does not say";
  row.measurement.key.root = 3;
  EXPECT_EQ(cells(row)["root"], "3");
  EXPECT_EQ(columns_for(collbench::Run{}, {{row, {}}}).size(), without + 1);
}

TEST(ReportColumns, ShowAMeasuredRow) {
  auto row = cells(example_run().rows[0]);
  EXPECT_EQ(row["size"], "8");
  EXPECT_EQ(row["count"], "2");
  EXPECT_EQ(row["type"], "float");
  EXPECT_EQ(row["redop"], "sum");
  EXPECT_EQ(row["place"], "out");
  EXPECT_EQ(row["time"], "20.00");
  EXPECT_EQ(row["±95%"], "4.0");
  EXPECT_EQ(row["algbw"], "0.00040");  // 8 B / 20 µs
  EXPECT_EQ(row["busbw"], "0.00060");  // × 2 · 3/4
  EXPECT_EQ(row["#wrong"], "0");
  EXPECT_EQ(row["ring"], "0.00040");  // 30 µs
  EXPECT_EQ(row["tree"], "0.00030");  // 40 µs
  EXPECT_EQ(row["exp"], "0.00048");   // 25 µs
  EXPECT_EQ(row["meas"], "1.25");
  EXPECT_EQ(row["algorithm"], "auto");
}

TEST(ReportColumns, ShowADashWhereThereIsNoValue) {
  Row empty;
  empty.measurement.key.operation = OperationId::send_recv;
  const auto row = cells(empty);
  for (const char* title :
       {"redop", "place", "time", "±95%", "algbw", "busbw", "#wrong", "ring", "tree", "exp", "meas"}) {
    EXPECT_EQ(row.at(title), "–") << title;
  }
}

TEST(ReportColumns, InPlaceIsSaidWhereTheOperationHasIt) {
  Row row;
  row.measurement.key.in_place = true;
  EXPECT_EQ(cells(row)["place"], "in");
}

TEST(ReportColumns, ANoteMarksTheReductionAlsoOfWhatDoesNotReduce) {
  Row row = example_run().rows[0];
  row.measurement.note = "reduced by collbench";
  EXPECT_EQ(cells(row)["redop"], "sum*");
  row.measurement.key.reduction.reset();
  EXPECT_EQ(cells(row)["redop"], "–*");
}

TEST(ReportColumns, ATroubledGpuMarksTheTime) {
  Row row = example_run().rows[0];
  EXPECT_EQ(cells(row)["time"], "20.00");
  row.measurement.marks = {{"n1", "GPU-1", GpuTrouble::sw_power_cap}};
  EXPECT_EQ(cells(row)["time"], "20.00!");
  const ReportRow shown{row, {}};
  const auto columns = columns_for(collbench::Run{}, {shown});
  const auto time =
      std::find_if(columns.begin(), columns.end(), [](const auto* each) { return each->title == "time"; });
  EXPECT_EQ((*time)->tone(shown), Tone::warning);
}

TEST(ReportColumns, TheEnqueueTimeIsShownWhereSomeRowHasIt) {
  const Row row = example_run().rows[0];
  const std::size_t usual = columns_for(collbench::Run{}, {{row, {}}}).size();
  EXPECT_EQ(usual + 2, report_columns(collbench::Run{}).size()) << "and roots, where there are some";
  Row enqueued = row;
  enqueued.measurement.enqueue_seconds = 4.5e-6;
  EXPECT_EQ(columns_for(collbench::Run{}, {{row, {}}, {enqueued, {}}}).size(), usual + 1);
  EXPECT_EQ(cells(enqueued)["enqueue"], "4.50");
  EXPECT_EQ(cells(row)["enqueue"], "–");
}

TEST(ReportColumns, TheAlgorithmIsWhatRanAndForWhat) {
  Row row;
  const auto shown = [&](std::string asked, std::string ran) {
    row.measurement.key.algorithm = std::move(asked);
    row.measurement.algorithm_ran = std::move(ran);
    return cells(row)["algorithm"];
  };
  EXPECT_EQ(shown("ring", "ring"), "ring");
  EXPECT_EQ(shown("ring", ""), "ring");
  EXPECT_EQ(shown("ring", "recursive_doubling"), "recursive_doubling (for ring)");
  EXPECT_EQ(shown("auto", "ring"), "auto: ring");
  EXPECT_EQ(shown("auto", "x\x1b[2Jy"), "auto: x [2Jy");
}

Row reported_row(const std::string& asked) {
  Row row = example_row(OperationId::all_reduce, 4096, 20);
  row.measurement.key.algorithm = row.measurement.algorithm_ran = asked;
  row.measurement.nccl = NcclSelection{"ring", "ll", 4, {{"tree", "ll", 8e-6}, {"ring", "ll", 9.25e-6}}};
  return row;
}

TEST(ReportColumns, WhatNcclUsedStandsWithWhatWasAsked) {
  EXPECT_EQ(cells(reported_row("auto"))["algorithm"], "auto: ring/ll/4");
  Row row = reported_row("ring");
  EXPECT_EQ(cells(row)["algorithm"], "ring/ll/4 (ring)");
  row.measurement.key.algorithm = "tree";
  EXPECT_EQ(cells(row)["algorithm"], "ring/ll/4 (for tree)");
  row = reported_row("auto");
  row.measurement.nccl = NcclSelection{"p2p", "", 0, {}};
  EXPECT_EQ(cells(row)["algorithm"], "auto: p2p");
  row.measurement.nccl = NcclSelection{"", "", 0, {}};
  EXPECT_EQ(cells(row)["algorithm"], "auto");
}

TEST(ReportColumns, NcclsOwnExpectationIsAColumnOfItsRunsOnly) {
  collbench::Run run;
  const auto titles = [&] {
    std::string all;
    for (const ReportColumn& column : report_columns(run)) all += std::string(column.title) + " ";
    return all;
  };
  EXPECT_THAT(titles(), Not(HasSubstr("NCCL")));
  run.backend = BackendId::nccl;
  EXPECT_THAT(titles(), HasSubstr("meas NCCL algorithm "));
  const ReportColumn column = report_columns(run)[16];
  const Row row = reported_row("auto");
  EXPECT_EQ(column.cell({row, rates(row, 4)}), "9.25");
  const Row silent;
  EXPECT_EQ(column.cell({silent, rates(silent, 4)}), "–");
  run.log = LogFacts{};
  EXPECT_THAT(titles(), Not(HasSubstr("NCCL")));
}

TEST(ReportColumns, TheIntervalIsAPercentageThatFits) {
  Row row = example_run().rows[0];
  const auto shown = [&](double half_width) {
    const double seconds = row.measurement.seconds;
    row.measurement.interval = {seconds * (1 - half_width), seconds * (1 + half_width), 0.96};
    return cells(row)["±95%"];
  };
  EXPECT_EQ(shown(0.04), "4.0");
  EXPECT_EQ(shown(0.123), "12");
  EXPECT_EQ(shown(5), "500");
  EXPECT_EQ(shown(20), ">999");
  EXPECT_EQ(shown(0.0009), "<0.1");
  EXPECT_EQ(shown(0), "0");
}

TEST(ReportColumns, TheRatioIsShortAtAnySize) {
  Row row = example_run().rows[0];
  const auto shown = [&](double ratio) {
    row.expectation.expected_seconds = row.measurement.seconds * ratio;
    return cells(row)["meas"];
  };
  EXPECT_EQ(shown(1), "1.00");
  EXPECT_EQ(shown(0.05), "0.05");
  EXPECT_EQ(shown(0.004), "<.01");
  EXPECT_EQ(shown(12.34), "12.3");
  EXPECT_EQ(shown(1234), "1234");
  EXPECT_EQ(shown(1e6), ">1e4");
}

TEST(ReportColumns, WrongElementsAreLoudAndSlowRowsCatchTheEye) {
  Row row = example_run().rows[0];
  EXPECT_EQ(tone_of(row, "#wrong"), Tone::plain);
  row.measurement.wrong_elements = 3;
  EXPECT_EQ(tone_of(row, "#wrong"), Tone::alarm);
  EXPECT_EQ(tone_of(row, "meas"), Tone::plain);
  row.expectation.expected_seconds = row.measurement.seconds * 0.79;
  EXPECT_EQ(tone_of(row, "meas"), Tone::warning);
  row.expectation.expected_seconds = row.measurement.seconds * 0.798;
  EXPECT_EQ(tone_of(row, "meas"), Tone::plain) << "it is shown as 0.80";
}

TEST(ReportColumns, EveryNumberFitsItsColumn) {
  for (double seconds = 1e-9; seconds < 1e6; seconds *= 3.7) {
    for (std::uint64_t size = 1; size <= 1ULL << 40U; size *= 16) {
      Row row = example_row(OperationId::all_reduce, size, seconds * 1e6);
      row.expectation = {seconds * 1e-3, seconds * 1e3, seconds, "ring"};
      row.measurement.wrong_elements = size * 2048;
      const ReportRow report_row{row, rates(row, 2048)};
      for (const ReportColumn& column : report_columns(collbench::Run{})) {
        if (column.title == "size" || column.title == "count" || column.title == "algorithm") continue;
        EXPECT_LE(display_width(column.cell(report_row)), column.min_width)
            << column.title << " " << column.cell(report_row) << " of " << size << " B in " << seconds
            << " s";
      }
    }
  }
}

TEST(TableNumber, HasTwoDecimalsWhileTheyFit) {
  EXPECT_EQ(table_number(23.456, 8), "23.46");
  EXPECT_EQ(table_number(12345.678, 8), "12345.68");
  EXPECT_EQ(table_number(123456.78, 8), "123456.8");
  EXPECT_EQ(table_number(1234567.8, 8), "1234568");
  EXPECT_EQ(table_number(1e9, 8), "1.0e+09");
}

TEST(TableNumber, KeepsSignificantDigitsOfSmallValues) {
  EXPECT_EQ(table_number(0.0123, 7), "0.0123");
  EXPECT_EQ(table_number(0.000456, 7), "0.00046");
  EXPECT_EQ(table_number(0.0000456, 7), "4.6e-05");
  EXPECT_EQ(table_number(0.671, 7), "0.671");
}

TEST(TableNumber, IsADashWhereThereIsNone) {
  EXPECT_EQ(table_number(std::nan(""), 7), "–");
  EXPECT_EQ(table_number(std::numeric_limits<double>::infinity(), 7), "–");
  EXPECT_EQ(table_number(0, 7), "0.00");
}

}  // namespace
}  // namespace collbench::analysis::columns_test
