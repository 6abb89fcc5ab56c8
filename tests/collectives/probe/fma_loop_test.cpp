#include "collectives/probe/fma_loop.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace collbench::collectives::fma_loop_test {
namespace {

TEST(FmaLoop, EachKindOfInstructionsDoesTheArithmeticThatItCounts) {
  constexpr std::int64_t kRounds = 100;
  const double expected = 1 + std::pow(1 - 1.0 / 1024, kRounds);
  for (const FmaLoop& loop : fma_loops()) {
    const FmaWork wide = loop.fp64(kRounds);
    EXPECT_NEAR(wide.lane, expected, kRounds * 4 * 2.3e-16)
        << loop.name;  // a rounding of 2⁻⁵² · 2 each round
    EXPECT_NEAR(loop.fp32(kRounds).lane, expected, kRounds * 4 * 1.2e-7) << loop.name;
    // A register holds twice as many numbers of half the size, in as many chains.
    EXPECT_EQ(loop.fp32(kRounds).flop, 2 * wide.flop) << loop.name;
    EXPECT_EQ(loop.fp64(2 * kRounds).flop, 2 * wide.flop) << loop.name;
    EXPECT_EQ(wide.flop, 2.0 * kRounds * std::round(wide.flop / 2 / kRounds)) << loop.name;
  }
}

}  // namespace
}  // namespace collbench::collectives::fma_loop_test
