#include "src/cli/standard_streams.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

#include "base/error.hpp"

namespace collbench::program::standard_streams_test {
namespace {

TEST(ReportFailure, IsTheExitStatusOfTheProcessAndOneLine) {
  testing::internal::CaptureStderr();
  EXPECT_EQ(report_failure(usage_error("-b", "too large", "give less"), true), 2);
  EXPECT_EQ(report_failure(std::logic_error("no such row"), true), 70);
  EXPECT_EQ(
      testing::internal::GetCapturedStderr(),
      "collbench: -b: too large; give less\n"
      "collbench: internal error: no such row; this is a bug in collbench: report it in the project's issue "
      "tracker, with this line and the command\n");
}

TEST(ReportFailure, IsSilentWhereAnotherRankReports) {
  testing::internal::CaptureStderr();
  EXPECT_EQ(report_failure(std::logic_error("no such row"), false), 0);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST(IsShown, FollowsTheTerminalOnlyWhenItIsAutomatic) {
  EXPECT_TRUE(is_shown(When::always, false));
  EXPECT_FALSE(is_shown(When::never, true));
  EXPECT_TRUE(is_shown(When::automatic, true));
  EXPECT_FALSE(is_shown(When::automatic, false));
}

}  // namespace
}  // namespace collbench::program::standard_streams_test
