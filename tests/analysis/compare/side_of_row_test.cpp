#include "analysis/compare/side_of_row.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "analysis/compare/comparison.hpp"
#include "tests/analysis/compare/compared_runs.hpp"

namespace collbench::analysis::side_of_row_test {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

/// A run of one launch whose time was up after one call.
collbench::Run cold_run(double seconds) {
  collbench::Run run = run_of_rows({{8, {seconds}}});
  run.rows[0].measurement.iterations = 1;
  run.rows[0].measurement.stopped = Stop{.reason = StopReason::out_of_time};
  return run;
}

std::vector<collbench::Run> nights() {
  std::vector<collbench::Run> runs;
  for (const double seconds : {0.430e-6, 0.431e-6, 0.432e-6, 0.433e-6, 0.434e-6})
    runs.push_back(run_of_rows({{8, {seconds}}}));
  return runs;
}

TEST(SideOfRow, AFewFirstCallsAreNoSlowerRun) {
  const Comparison found = compare(nights(), {cold_run(2.6e-6)}, {});
  EXPECT_EQ(found.rows.at(0).change, RowChange::unclear);
  EXPECT_FALSE(found.rows.at(0).p);
  EXPECT_FALSE(found.rows.at(0).is_other_state);
  EXPECT_THAT(found.rows.at(0).notes, ElementsAre("no time for a block in the new run: use a longer --time"));
  const Comparison of_two = compare({cold_run(2.6e-6)}, {nights().front()}, {});
  EXPECT_EQ(of_two.rows.at(0).change, RowChange::unclear);
  EXPECT_THAT(of_two.rows.at(0).notes, ElementsAre(HasSubstr("in the base")));
}

TEST(SideOfRow, IsWithoutTheRunsThatHadNoTime) {
  std::vector<collbench::Run> base = nights();
  base.push_back(cold_run(2.6e-6));
  const SideOfRow side = side_of(measured_rows(base), base.front().rows[0].measurement.key, {});
  EXPECT_EQ(side.runs.size(), 5U);
  EXPECT_TRUE(side.had_time);
  const Comparison found = compare(base, nights(), {.launch_allowance = 0, .same_within = 0.1});
  EXPECT_EQ(found.rows.at(0).change, RowChange::same);
  EXPECT_THAT(found.differences,
              Contains("base: 1 of 6 launches had no time left for some rows, which are of "
                       "the others only: use a longer --time"));
  EXPECT_THAT(compare(nights(), nights(), {}).differences, Not(Contains(HasSubstr("no time"))));
}

TEST(SideOfRow, ATimeThatIsNoneDecidesNothing) {
  const collbench::Run good = run_of_rows({{8, {1.0, 1.01, 0.99, 1.0}}});
  for (const double no_time : {0.0, 1e-320, -1.0, std::nan(""), HUGE_VAL}) {
    collbench::Run bad = good;
    bad.rows[0].measurement.pass_seconds = {no_time, 1.0, 1.01, 0.99};
    // Of the launches that are left.
    const Comparison left = compare({good}, {bad}, {});
    EXPECT_EQ(left.rows.at(0).current.launches, 3) << no_time;
    EXPECT_EQ(left.rows.at(0).change, RowChange::same) << no_time;
    EXPECT_THAT(left.rows.at(0).notes, ElementsAre(HasSubstr("whose time is none")));
    bad.rows[0].measurement.pass_seconds.assign(4, no_time);
    const ComparedRow none = compare({bad}, {good}, {}).rows.at(0);
    EXPECT_EQ(none.change, RowChange::unclear) << no_time;
    EXPECT_FALSE(none.p) << no_time;
    EXPECT_EQ(none.ratio, 0) << no_time;
  }
}

TEST(SideOfRow, BoundsBeyondADoubleDecideNothing) {
  const collbench::Run tiny = run_of_rows({{8, {1e-300, 1e-299}}});
  const collbench::Run huge = run_of_rows({{8, {1e300, 1e299}}});
  const collbench::Run wild = run_of_rows({{8, {1e-300, 1e300}}});
  EXPECT_EQ(compare({tiny}, {huge}, {}).rows.at(0).change, RowChange::unclear);
  EXPECT_EQ(compare({wild}, {tiny}, {}).rows.at(0).change, RowChange::unclear);
  EXPECT_EQ(compare({wild}, {tiny}, {}).rows.at(0).ratio_high, 0);
}

TEST(SideOfRow, OfSeveralRowsWithOneKeyIsTheFirstThatWasMeasured) {
  std::vector<collbench::Run> runs{run_of_rows({{8, {1.0}}, {8, {2.0}}, {8, {3.0}}})};
  runs[0].rows[0].measurement.unavailable = "not run";
  const std::vector<MeasuredRows> rows = measured_rows(runs);
  ASSERT_EQ(rows.at(0).size(), 1U);
  EXPECT_EQ(measured_row(rows[0], runs[0].rows[0].measurement.key)->seconds, 2.0);
}

}  // namespace
}  // namespace collbench::analysis::side_of_row_test
