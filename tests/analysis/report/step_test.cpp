#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/report/sections.hpp"

namespace collbench::analysis::step_report_test {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

collbench::Run run_of_steps(std::size_t ranks) {
  collbench::Run run;
  Row& row = run.rows.emplace_back();
  row.measurement.key = {
      .operation = OperationId::step, .size_bytes = 1024, .count = 256, .reduction = Reduction::sum};
  row.measurement.note = "compute: GEMM FP64, n = 512, by OpenBLAS";
  row.measurement.pass_seconds.assign(8, 7e-3);
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    row.measurement.ranks.push_back({.rank = static_cast<int>(rank), .step = StepTimes{}});
    *row.measurement.ranks.back().step = {
        .compute_seconds = 5e-3, .between_seconds = 1e-6, .inside_seconds = 2e-3, .alone_seconds = 1.5e-3};
  }
  row.step = StepVerdict{};
  return run;
}

TEST(StepLines, TheStepItsRanksAndThatNobodyIsSlow) {
  const ReportLines lines = step_lines(run_of_steps(2));
  ASSERT_EQ(lines.size(), 4U);
  EXPECT_THAT(lines[0].text, HasSubstr("Step 1 KiB float sum, out of place: compute 5 ms, AllReduce 2 "
                                       "ms, neither 1 µs; the AllReduce "
                                       "alone 1.5 ms (medians of 2 ranks); compute: GEMM FP64"));
  EXPECT_EQ(lines[2].text, "rank 1: compute 5 ms, AllReduce 2 ms, neither 1 µs");
  EXPECT_THAT(lines[3].text,
              HasSubstr("nobody is slow: in three of four of 8 passes no rank's kernel takes 5 % longer"));
}

TEST(StepLines, ManyRanksAreNotListed) { EXPECT_EQ(step_lines(run_of_steps(9)).size(), 2U); }

TEST(StepLines, WhoIsNamedIsAWarning) {
  collbench::Run run = run_of_steps(2);
  run.rows[0].step->word = StepWord::named;
  run.rows[0].step->findings.push_back({.ranks = {1}, .text = "rank 1 is slow in compute"});
  const ReportLines lines = step_lines(run);
  ASSERT_EQ(lines.size(), 4U);
  EXPECT_EQ(lines[3].text, "warning: Step 1 KiB float sum, out of place: rank 1 is slow in compute");
  EXPECT_EQ(lines[3].tone, Tone::warning);
}

TEST(StepLines, WhyNobodyCanBeNamed) {
  collbench::Run run = run_of_steps(2);
  *run.rows[0].step = {.word = StepWord::not_judged, .findings = {}, .text = "ranks share cores"};
  EXPECT_EQ(step_lines(run).back().text, "Step 1 KiB float sum, out of place: not judged: ranks share cores");
}

TEST(StepLines, WithoutAStepThereAreNone) {
  collbench::Run run = run_of_steps(2);
  run.rows[0].step.reset();
  EXPECT_THAT(step_lines(run), IsEmpty());
}

}  // namespace
}  // namespace collbench::analysis::step_report_test
