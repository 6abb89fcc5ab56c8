#include "src/run/time_of_day.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace collbench::program {
namespace {

constexpr double kYear = 31'556'952;

TEST(TimeOfDay, ThatGoesWithTheRunIsNoNote) {
  EXPECT_EQ(clock_note("n1", 0, 0.4), "");
  EXPECT_EQ(clock_note("n1", 62, 60), "");
  EXPECT_EQ(clock_note("n1", 86'400, 86'440), "") << "a time server slewed it";
}

TEST(TimeOfDay, ThatJumpedIsSaid) {
  EXPECT_EQ(clock_note("n1", -3590, 10),
            "the time of day on n1 was set back by 1 h 0 min during the run, which so finished before it "
            "started; durations are by its monotonic clock");
  EXPECT_EQ(
      clock_note("n1", 400, 4000),
      "the time of day on n1 was set back by 1 h 0 min during the run; durations are by its monotonic clock");
  EXPECT_THAT(clock_note("n1", 3610, 10), testing::HasSubstr("went on by 1 h 0 min more than the run took"));
  EXPECT_THAT(clock_note("n1", -1000 * kYear, 10), testing::HasSubstr("set back by 8765820 h 0 min"));
}

}  // namespace
}  // namespace collbench::program
