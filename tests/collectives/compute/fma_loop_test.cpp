#include "collectives/compute/fma_loop.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <string_view>

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
    // Two for each multiply-add: lanes of a register by chains beside each other.
    const std::map<std::string_view, double> multiply_adds{
        {"AVX-512", 8 * 12}, {"AVX2", 4 * 12}, {"portable", 2 * 12}, {"NEON", 2 * 20}};
    EXPECT_EQ(wide.flop, 2.0 * multiply_adds.at(loop.name) * kRounds) << loop.name;
  }
}

}  // namespace
}  // namespace collbench::collectives::fma_loop_test
