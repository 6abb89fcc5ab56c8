#include "collectives/engine/row_state.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

namespace collbench::collectives::first_visit_test {
namespace {

TEST(FirstVisit, IsExpectedOnTheLineThroughTheTwoNextSmallerSizes) {
  const std::vector<FirstVisit> smaller{{.size_bytes = 8, .call_seconds = 5, .check_seconds = 5},
                                        {.size_bytes = 1000, .call_seconds = 0.1, .check_seconds = 0.3},
                                        {.size_bytes = 3000, .call_seconds = 0.2, .check_seconds = 0.3}};
  const FirstVisit expected = expected_visit(smaller, 9000);
  EXPECT_DOUBLE_EQ(expected.call_seconds, 0.5);
  EXPECT_DOUBLE_EQ(expected.check_seconds, 0.3);
  EXPECT_DOUBLE_EQ(expected.shortest(), 1.3);
  EXPECT_DOUBLE_EQ(expected.usual(), 2.8);
}

TEST(FirstVisit, OfALargerSizeTakesNoLessAndOfNothingNothingIsKnown) {
  // Latency alone: a line from nothing would expect 125 million times as much.
  const std::vector<FirstVisit> one{{.size_bytes = 8, .call_seconds = 1e-3, .check_seconds = 2e-3}};
  EXPECT_DOUBLE_EQ(expected_visit(one, 1'000'000'000).shortest(), 4e-3);
  // The larger one met a quieter machine.
  const std::vector<FirstVisit> falling{{.size_bytes = 8, .call_seconds = 2},
                                        {.size_bytes = 16, .call_seconds = 1}};
  EXPECT_DOUBLE_EQ(expected_visit(falling, 1000).call_seconds, 1);
  // Two of one size.
  const std::vector<FirstVisit> equal{{.size_bytes = 8, .call_seconds = 1},
                                      {.size_bytes = 8, .call_seconds = 2}};
  EXPECT_DOUBLE_EQ(expected_visit(equal, 1000).call_seconds, 2);
  EXPECT_DOUBLE_EQ(expected_visit({}, 1000).usual(), 0);
}

TEST(FirstVisit, IsLeftOutWhereItDoesNotFitAndIsNoSmallPartOfTheRun) {
  EXPECT_TRUE(is_left_out(20, 10, 40));
  EXPECT_TRUE(is_left_out(20, -1, 40));
  EXPECT_FALSE(is_left_out(20, 25, 40)) << "it fits";
  EXPECT_FALSE(is_left_out(1.9, -5, 40)) << "a twentieth of the run";
  EXPECT_TRUE(is_left_out(2.1, -5, 40));
  EXPECT_FALSE(is_left_out(0.9, -5, 0.1)) << "a second";
  EXPECT_FALSE(is_left_out(0, -5, 40)) << "nothing is known";
  const double endless = std::numeric_limits<double>::infinity();
  EXPECT_FALSE(is_left_out(1e9, endless, endless));
}

TEST(FirstVisit, SaysWhatItNeedsAndWhatWasLeft) {
  EXPECT_EQ(left_out_reason(1 << 30, 50, 12),
            "1 GiB left out: it takes about 50 s, and 12 s of the run's time was left");
  EXPECT_EQ(left_out_reason(1 << 30, 50, -3),
            "1 GiB left out: it takes about 50 s, and nothing of the run's time was left");
}

}  // namespace
}  // namespace collbench::collectives::first_visit_test
