#include "analysis/report/report.hpp"

#include <gmock/gmock.h>

#include <algorithm>

#include "tests/analysis/example_run.hpp"
#include "tests/base/lines.hpp"

namespace collbench::analysis::markdown_test {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::StartsWith;

TEST(ReportMarkdown, HasATablePerOperation) {
  const auto lines = lines_of(report_markdown(example_run()));
  EXPECT_EQ(lines[0], "# collbench report");
  EXPECT_EQ(lines[1], "");
  EXPECT_EQ(lines[2],
            "- collbench 0.1.0, host memory through MPI, 4 ranks on 2 hosts, started 2026-10-01T12:00:00Z");
  const auto title = std::find(lines.begin(), lines.end(), "## SendRecv");
  ASSERT_LT(title - lines.begin() + 5, std::ssize(lines));
  EXPECT_EQ(title[1], "SendRecv: size is what one rank sends; busbw = algbw × 1");
  EXPECT_EQ(title[2], "");
  EXPECT_EQ(
      title[3],
      "| size (B) | count (elements) | type | redop | place | time (µs) | ±95 % (%) | algbw (GB/s) | busbw "
      "(GB/s) | #wrong | ring busbw (GB/s) | tree busbw (GB/s) | expected busbw (GB/s) | meas/exp | "
      "algorithm |");
  EXPECT_EQ(title[4],
            "| ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | "
            "---: | --- |");
  EXPECT_EQ(
      title[5],
      "| 4096 | 1024 | float | – | – | 15.50 | 4.0 | 0.264 | 0.264 | 0 | 0.273 | – | 0.273 | 0.97 | auto |");
}

TEST(ReportMarkdown, AllRowsOfATableHaveTheCellsOfItsHead) {
  for (const std::string& line : lines_of(report_markdown(example_run()))) {
    if (line.starts_with("|")) {
      EXPECT_EQ(std::count(line.begin(), line.end(), '|'), 16) << line;
    }
  }
}

TEST(ReportMarkdown, SaysWhatIsNotAvailableAndTheOutcome) {
  const auto lines = lines_of(report_markdown(example_run()));
  EXPECT_THAT(lines,
              Contains("- AllReduce --algo neighbor: not available: this library has it for AllGather only"));
  EXPECT_THAT(lines, Contains("- no verdict on host memory; meas/exp is informational"));
}

TEST(ReportMarkdown, WhatIsLoudIsBold) {
  auto run = example_run();
  run.rows[1].measurement.wrong_elements = 12;
  const std::string text = report_markdown(run);
  EXPECT_THAT(text, HasSubstr("| **12** |"));
  EXPECT_THAT(text, HasSubstr("| **0.70** |"));
  EXPECT_THAT(text, HasSubstr("- **WRONG DATA: "));
}

TEST(ReportMarkdown, PercentilesAreASecondTableOfTheSameRows) {
  const auto lines = lines_of(report_markdown(example_run(), {.percentiles = true}));
  EXPECT_THAT(lines,
              Contains(testing::HasSubstr("| min (µs) | p50 (µs) | p95 (µs) | p99 (µs) | calls each |")));
  EXPECT_THAT(lines, Contains(testing::HasSubstr("| 20.00 | 18.00 | 20.00 | 22.00 | 24.00 | 10 | 800 |")));
}

TEST(ReportMarkdown, WithoutSamplesThereIsASentenceAndNoTableOfDashes) {
  auto run = example_run();
  for (Row& row : run.rows) row.measurement.samples = 0;
  const std::string text = report_markdown(run, {.percentiles = true});
  EXPECT_THAT(text, HasSubstr("no percentiles: no row has samples"));
  EXPECT_THAT(text, testing::Not(HasSubstr("| p99 (µs)")));
}

TEST(ReportMarkdown, NothingInARecordIsMarkup) {
  auto run = example_run();
  run.environment = {{"UCX_TLS", "a|b<c>*d*\nx"}};
  run.rows[0].measurement.algorithm_ran = "a|b";
  const auto lines = lines_of(report_markdown(run));
  EXPECT_THAT(lines, Contains("- environment: UCX\\_TLS=a\\|b\\<c\\>\\*d\\* x"));
  EXPECT_THAT(lines, Contains(testing::EndsWith("| auto: a\\|b |")));
}

}  // namespace
}  // namespace collbench::analysis::markdown_test
