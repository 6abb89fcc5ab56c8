#include "collectives/data/normal_formula.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>

namespace collbench::collectives::normal_formula_test {
namespace {

struct Moments {
  double mean = 0, variance = 0, kurtosis = 0, with_next = 0;
};

/// Of `count` numbers of a seed; `with_next` is the correlation of neighbors.
Moments moments_of(std::uint64_t seed, int count) {
  Moments all;
  double before = 0;
  for (int i = 0; i < count; ++i) {
    const double x = normal_value(static_cast<std::uint64_t>(i), seed);
    all.mean += x / count;
    all.variance += x * x / count;
    all.kurtosis += x * x * x * x / count;
    all.with_next += x * before / count;
    before = x;
  }
  all.kurtosis /= all.variance * all.variance;
  return all;
}

// Bounds are five standard errors of 10⁶ numbers: √(1/n), √(2/n), √(24/n).
TEST(NormalFormula, MeanVarianceAndKurtosisAreThoseOfTheSumOfTwelve) {
  for (const std::uint64_t seed : {1U, 2U}) {
    const Moments found = moments_of(seed, 1'000'000);
    EXPECT_NEAR(found.mean, 0, 5e-3);
    EXPECT_NEAR(found.variance, 1, 8e-3);
    EXPECT_NEAR(found.kurtosis, 2.9, 0.025);
    EXPECT_NEAR(found.with_next, 0, 5e-3);
  }
}

TEST(NormalFormula, ANumberIsTheSameAgainAndAnotherOfAnotherSeed) {
  static_assert(normal_value(7, 1) == normal_value(7, 1));
  EXPECT_NE(normal_value(7, 1), normal_value(7, 2));
  EXPECT_LE(std::fabs(normal_value(7, 1)), 6);
}

}  // namespace
}  // namespace collbench::collectives::normal_formula_test
