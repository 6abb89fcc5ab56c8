#include "tools/burnin/attribution/pairs/median_doubt.hpp"

#include <gmock/gmock.h>

#include "tools/burnin/tests/attribution/made_pairs.hpp"

namespace collbench::analysis {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

bool nobody(int /*node*/, int /*rail*/) { return false; }

/// Of eight the first three are quick among themselves.
PairTable quick_three() {
  return made_pairs(8, 1, [](int a, int b, int) { return a < 3 && b < 3 ? 0.5 : 1; });
}

TEST(MedianDoubt, ManyQuickPairsPutTheMedianInDoubt) {
  const PairTable table = quick_three();
  const MedianDoubt doubt = median_doubt(table, pair_effects(table), nobody);
  EXPECT_THAT(doubt.why, HasSubstr("pairs between 3 of the 8 nodes"));
  EXPECT_THAT(doubt.slower_half, ElementsAre(3, 4, 5, 6, 7));
}

TEST(MedianDoubt, NotWhereSomethingElseExplainsThem) {
  const PairTable table = quick_three();
  EXPECT_EQ(median_doubt(table, pair_effects(table), [](int node, int) { return node == 1; }).why, "");
  const PairTable healthy = made_pairs(8, 1, [](int, int, int) { return 1.0; });
  EXPECT_EQ(median_doubt(healthy, pair_effects(healthy), nobody).why, "");
}

}  // namespace
}  // namespace collbench::analysis
