#include "tools/burnin/attribution/pairs/alone_times.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "tools/burnin/tests/attribution/made_pairs.hpp"

namespace collbench::analysis::alone_times_test {
namespace {

bool all_but_three(int node, int /*rail*/) { return node != 3; }

TEST(AloneTimes, ANodesPartIsAgainstPairsOfFineOnes) {
  const PairTable table = made_pairs(6, 1, [](int from, int, int) { return from == 3 ? 2.0 : 1; });
  const PairEffects effects = pair_effects(table);
  EXPECT_NEAR(alone_part(table, effects, 3, 0, true, all_but_three).value_or(0), std::log(2), 0.005);
  EXPECT_NEAR(alone_part(table, effects, 3, 0, false, all_but_three).value_or(1), 0, 0.005);
}

TEST(AloneTimes, AreThoseOfATable) {
  PairTable table = made_pairs(6, 1, [](int from, int, int) { return from == 3 ? 2.0 : 1; });
  table.times.front().alone = false;
  const AloneTimes alone = alone_times(table, pair_effects(table));
  EXPECT_EQ(alone.table.times.size(), 29U);
  EXPECT_EQ(alone.effects.classes.size(), 29U);
}

TEST(AloneTimes, WithoutTimesAloneOrFinePartnersNothingIsSaid) {
  PairTable table = made_pairs(6, 1, [](int, int, int) { return 1.0; });
  const PairEffects effects = pair_effects(table);
  EXPECT_FALSE(alone_part(table, effects, 3, 0, true, [](int, int) { return false; }));
  for (RailTime& time : table.times) time.alone = false;
  EXPECT_FALSE(alone_part(table, effects, 3, 0, true, all_but_three));
  EXPECT_TRUE(alone_path(table, effects, 0, 1, 0, all_but_three).empty());
}

TEST(AloneTimes, APathIsAgainstWhatItsEndsTookWithOthers) {
  const PairTable table = made_pairs(6, 1, [](int a, int b, int) { return a == 0 && b == 1 ? 2.0 : 1; });
  const std::vector<double> alone = alone_path(table, pair_effects(table), 1, 0, 0, all_but_three);
  ASSERT_EQ(alone.size(), 1U);
  EXPECT_NEAR(alone[0], std::log(2), 0.005);
}

}  // namespace
}  // namespace collbench::analysis::alone_times_test
