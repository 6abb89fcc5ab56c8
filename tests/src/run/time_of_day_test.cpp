#include "src/run/run_end.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace collbench::program {
namespace {

constexpr double kYear = 31'556'952;

TEST(TimeOfDay, ThatGoesWithTheRunIsNoNote) {
  EXPECT_EQ(clock_note("n1", 0, 0.4, 0), "");
  EXPECT_EQ(clock_note("n1", 62, 60, 0), "");
  EXPECT_EQ(clock_note("n1", 86'400, 86'440, 0), "") << "a time server slewed it";
}

TEST(TimeOfDay, ThatJumpedIsSaid) {
  EXPECT_EQ(clock_note("n1", -3590, 10, 0),
            "the time of day on n1 was set back by 1 h 0 min during the run, which so finished before it "
            "started; durations are by its monotonic clock");
  EXPECT_EQ(
      clock_note("n1", 400, 4000, 0),
      "the time of day on n1 was set back by 1 h 0 min during the run; durations are by its monotonic clock");
  EXPECT_THAT(clock_note("n1", 3610, 10, 0),
              testing::HasSubstr("was set ahead by 1 h 0 min during the run; "));
  EXPECT_THAT(clock_note("n1", -1000 * kYear, 10, 0), testing::HasSubstr("set back by 8765820 h 0 min"));
}

TEST(TimeOfDay, OfASuspendedMachineGoesOnAndIsNotCalledSet) {
  EXPECT_EQ(clock_note("n1", 3610, 10, 3600),
            "n1 was suspended for 1 h 0 min during the run; durations are by its monotonic clock");
  EXPECT_EQ(
      clock_note("n1", -3590, 10, 3600),
      "the time of day on n1 was set back by 2 h 0 min, and n1 was suspended for 1 h 0 min during the run, "
      "which so finished before it started; durations are by its monotonic clock");
  EXPECT_EQ(clock_note("n1", 61, 60, 1), "");
}

}  // namespace
}  // namespace collbench::program
