#include "collectives/stopping.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace collbench {
namespace {

TEST(Stopping, TightPassesStopAtEight) {
  const StoppingRule rule;
  std::vector<double> passes(7, 1.0);
  EXPECT_EQ(stop_reason(rule, passes), "");
  passes.push_back(1.0);
  EXPECT_EQ(stop_reason(rule, passes), "precision reached");
}

TEST(Stopping, WidePassesGoOnToTheMost) {
  const StoppingRule rule;
  std::vector<double> passes;
  for (int i = 0; i < 63; ++i) passes.push_back(i % 2 == 0 ? 1.0 : 2.0);
  EXPECT_EQ(stop_reason(rule, passes), "");
  passes.push_back(2.0);
  EXPECT_EQ(stop_reason(rule, passes), "64 passes");
}

TEST(Stopping, TheWidthIsHalfTheIntervalOverTheMedian) {
  // With n = 8 the interval runs from the smallest to the largest.
  EXPECT_NEAR(relative_half_width({0.9, 1, 1, 1, 1, 1, 1, 1.1}), 0.1, 1e-12);
  EXPECT_TRUE(std::isinf(relative_half_width({1, 1, 1, 1, 1})));
  EXPECT_EQ(relative_half_width(std::vector<double>(8, 0.0)), 0);
}

TEST(Stopping, ExactlyNPasses) {
  const StoppingRule rule{.precision = 0.05, .fewest_passes = 2, .most_passes = 1};
  EXPECT_NE(stop_reason(rule, {1.0}), "");
}

}  // namespace
}  // namespace collbench
