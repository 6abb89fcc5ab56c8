#include "base/clock.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

namespace collbench::clock_test {
namespace {

TEST(ClockOffset, IsTheQuickestQuestionsAndTheTruthLiesWithinItsUncertainty) {
  std::mt19937_64 random(3);
  std::exponential_distribution<double> way(1e6);  // 1 us on average, either way on its own
  for (int trial = 0; trial < 1000; ++trial) {
    const double truth = trial * 1e-3 - 0.5;
    std::vector<ClockSample> samples;
    double now = 10;
    for (int i = 0; i < 8; ++i) {
      const double there = now + 1e-7 + way(random);
      const double back = there + 1e-7 + way(random);
      samples.push_back({.asked = now, .answered = there + truth, .heard = back});
      now = back;
    }
    const ClockOffset offset = clock_offset(samples);
    EXPECT_LE(std::fabs(offset.seconds - truth), offset.uncertainty_seconds + 1e-12);
    for (const ClockSample& sample : samples) {
      EXPECT_LE(offset.uncertainty_seconds, (sample.heard - sample.asked) / 2);
    }
  }
}

}  // namespace
}  // namespace collbench::clock_test
