#include "analysis/compare/comparison.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace collbench::analysis {
namespace {

constexpr OpenRow kRow{.standard_deviation = 0.1, .same_within = 0.05, .significance = 0.05};

TEST(LaunchesToDecide, FollowFromTheNearerOfAChangeAndNone) {
  OpenRow row = kRow;
  row.log_ratio = 0.2;  // 2 · (1.959964 · 0.1 / 0.2)² = 1.92: fewer than three say nothing of a spread
  EXPECT_EQ(launches_to_decide(row), 3);
  row.log_ratio = 0.04;  // 2 · (1.959964 · 0.1 / 0.04)² = 48.02 to be a change; far more to be none
  EXPECT_EQ(launches_to_decide(row), 50);
  row.log_ratio = 0;  // 2 · (1.959964 · 0.1 / ln 1.05)² = 32.3
  EXPECT_EQ(launches_to_decide(row), 34);
}

TEST(LaunchesToDecide, AChangeHasToBeBeyondWhatTwoSittingsDifferBy) {
  OpenRow row = kRow;
  row.sitting_allowance = 0.3;
  row.log_ratio = std::log(1.321);  // 0.016 beyond: 2 · (1.959964 · 0.1 / 0.0160247)² = 299
  EXPECT_EQ(launches_to_decide(row), kMaxLaunchesToDecide);
  row.log_ratio = -std::log(1.5);  // 0.143101 beyond: 3.75
  EXPECT_EQ(launches_to_decide(row), 5);
  row.log_ratio = std::log(1.29);  // within, and SAME would have to rule out less than the allowance
  EXPECT_EQ(launches_to_decide(row), 0);
}

TEST(LaunchesToDecide, OfManyRowsTakeHolmsFirstStep) {
  OpenRow row = kRow;
  row.log_ratio = 0.1;
  EXPECT_EQ(launches_to_decide(row), 9);  // 7.68
  row.rows = 10;                          // z of 0.25 % a side is 2.807034: 15.76
  EXPECT_EQ(launches_to_decide(row), 17);
}

TEST(LaunchesToDecide, NoRowCanBeSameWhereSittingsDifferByAsMuch) {
  EXPECT_TRUE(can_be_same(0, 0.05));
  EXPECT_TRUE(can_be_same(0.049, 0.05));
  EXPECT_FALSE(can_be_same(0.05, 0.05));
  EXPECT_FALSE(can_be_same(0.3, 0.05));
}

}  // namespace
}  // namespace collbench::analysis
