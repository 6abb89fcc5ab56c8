#include "tools/burnin/report/direction_rates.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "tools/burnin/tests/attribution/made_burnin.hpp"

namespace collbench::analysis::direction_rates_test {
namespace {

TEST(DirectionRates, AreSharesOfTheUsualRateAndFailuresAreNone) {
  BurninRecord record =
      made_burnin(6, 2, [](int from, int, int rail) { return (from == 4 ? 2.0 : 1) * (rail == 1 ? 3 : 1); });
  lose_rail(record, 5, 1);
  const DirectionRates rates = direction_rates(record);
  EXPECT_EQ(rates.all.size(), 60U);
  EXPECT_NEAR(rates.covered, 50.0 / 60, 1e-12);
  const auto matrix = rate_matrix(rates, 6, 1);
  EXPECT_FALSE(matrix[0]) << "of a host to itself";
  EXPECT_NEAR(matrix.at(4 * 6 + 1)->share, 0.5, 0.01);
  EXPECT_NEAR(matrix.at(1 * 6 + 4)->share, 1, 0.01);
  EXPECT_EQ(shade_of(matrix.at(1 * 6 + 5)), Shade::failed);
  EXPECT_EQ(shade_of(matrix.at(0)), Shade::unmeasured);
  EXPECT_NEAR(median_rate(rates, 0), 1e9, 0.02e9);
  EXPECT_NEAR(median_rate(rates, 1), 1e9 / 3, 0.02e9);
}

TEST(DirectionRates, OfAPairThatWasRepeatedTheRepeatCounts) {
  BurninRecord record = made_burnin(10, 1, [](int a, int b, int) { return a + b == 1 ? 1.5 : 1; });
  for (RailTime& time : record.table.times) time.alone = false;
  for (const auto& [a, b] : {std::pair(0, 1), std::pair(4, 5), std::pair(6, 7), std::pair(8, 9)}) {
    record.table.times.push_back({a, b, 0, 1e-3, false, {}, {}, 1});
    record.table.times.push_back({b, a, 0, 1e-3, false, {}, {}, 1});
  }
  EXPECT_NEAR(rate_matrix(direction_rates(record), 10, 0).at(1)->share, 1, 0.01);
  EXPECT_EQ(direction_rates(record).all.size(), 90U);
}

TEST(DirectionRates, EachShadeBeginsWhereItsNameSays) {
  EXPECT_EQ(shade_of(0.499), Shade::below_50);
  EXPECT_EQ(shade_of(0.5), Shade::below_75);
  EXPECT_EQ(shade_of(0.9), Shade::below_95);
  EXPECT_EQ(shade_of(0.95), Shade::below_99);
  EXPECT_EQ(shade_of(1.0), Shade::usual);
  EXPECT_EQ(shade_of(1.02), Shade::faster);
  EXPECT_EQ(shade_of(std::numeric_limits<double>::quiet_NaN()), Shade::unmeasured);
  EXPECT_EQ(name(Shade::below_75), "50 to 75 %");
}

}  // namespace
}  // namespace collbench::analysis::direction_rates_test
