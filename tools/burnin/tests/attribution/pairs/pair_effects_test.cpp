#include "tools/burnin/attribution/pairs/pair_effects.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tools/burnin/tests/attribution/made_pairs.hpp"

namespace collbench::analysis::pair_effects_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(PairEffects, SendersAndReceiversAreSeparated) {
  const PairEffects found = pair_effects(made_pairs(8, 2, [](int from, int to, int rail) {
    return (from == 3 && rail == 1 ? 2.0 : 1) * (to == 5 && rail == 0 ? 1.25 : 1);
  }));
  EXPECT_NEAR(found.send[3][1], std::log(2), 0.003);
  EXPECT_NEAR(found.receive[5][0], std::log(1.25), 0.003);
  EXPECT_NEAR(found.send[5][0], 0, 0.003);
  EXPECT_NEAR(found.receive[3][1], 0, 0.003);
  EXPECT_NEAR(found.common[0][0], std::log(1e-3), 0.003);
}

TEST(PairEffects, APairThatIsSlowAloneStaysInTheResidual) {
  const PairTable table =
      made_pairs(8, 1, [](int from, int to, int) { return from == 2 && to == 6 ? 2.0 : 1; });
  const PairEffects found = pair_effects(table);
  for (std::size_t i = 0; i < table.times.size(); ++i) {
    const bool slow = table.times[i].from == 2 && table.times[i].to == 6;
    EXPECT_NEAR(found.residuals[i], slow ? std::log(2) : 0, 0.005);
  }
}

TEST(PairEffects, TimesAloneAreNoPartOfWhatCompanyCosts) {
  PairTable table = made_pairs(6, 1, [](int, int, int) { return 1.0; });
  for (RailTime& time : table.times) time.alone = false;
  const std::size_t pairs = table.times.size();
  for (std::size_t i = 0; i < pairs; ++i) {
    if (table.times[i].from != 1) continue;
    RailTime again = table.times[i];
    again.alone = true;
    again.seconds /= 3;
    table.times.push_back(again);
  }
  EXPECT_NEAR(pair_effects(table).send[1][0], 0, 0.003);
}

TEST(PairEffects, WithTwoPartnersNothingIsSaidOfANode) {
  PairTable table = made_pairs(6, 1, [](int, int, int) { return 1.0; });
  std::erase_if(table.times, [](const RailTime& time) {
    return (time.from == 0 && time.to > 2) || (time.to == 0 && time.from > 2);
  });
  const PairEffects found = pair_effects(table);
  EXPECT_TRUE(std::isnan(found.send[0][0]));
  EXPECT_FALSE(std::isnan(found.send[1][0]));
}

// Most pairs across leaves are slow then, and yet each good node is fast with most of its partners.
TEST(PairEffects, ManySlowNodesAreNotTheMedian) {
  for (int leaves = 3; leaves <= 10; ++leaves) {
    const int slow = leaves / 3 * 2;  // whole leaves of two
    PairTable table = made_pairs(
        2 * leaves, 1, [slow](int from, int to, int) { return std::min(from, to) < slow ? 2.0 : 1; });
    for (int node = 0; node < 2 * leaves; ++node) table.leaf_of_node.push_back(node / 2);
    const PairEffects found = pair_effects(table);
    for (int node = 0; node < 2 * leaves; ++node) {
      EXPECT_NEAR(found.send[slot_of(node)][0], node < slow ? std::log(2) : 0, 0.01)
          << node << " of " << leaves;
      EXPECT_NEAR(found.receive[slot_of(node)][0], node < slow ? std::log(2) : 0, 0.01)
          << node << " of " << leaves;
    }
  }
}

// One node that sends at half: the others' parts are alike, and the line is no wider for it.
TEST(PairEffects, OneSlowNodeDoesNotWidenTheLineOfItsRail) {
  const PairTable table = made_pairs(4, 1, [](int from, int, int) { return from == 2 ? 2.0 : 1; });
  EXPECT_LT(line_of_rail(table, pair_effects(table), 0), 0.02);
}

// n11 is in no group, fast with the first and slow with the second; n0's number is no group's.
TEST(PairEffects, ANodeHasAPartWithEachGroupOfItsPartners) {
  PairTable table = made_pairs(12, 1, [](int from, int to, int) {
    const int other = from == 11 ? to : to == 11 ? from : 11;
    return other != 11 && other > 5 ? 2.0 : 1;
  });
  table.leaf_of_node = {0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, -12};
  const PairEffects effects = pair_effects(table);
  const auto parts = parts_by_group(table, effects, 11, 0, true);
  ASSERT_EQ(parts.size(), 2U);
  EXPECT_NEAR(parts.at(1) - parts.at(0), std::log(2), 0.01);
  const auto of_member = parts_by_group(table, effects, 0, 0, true);
  ASSERT_TRUE(of_member.contains({}));
  EXPECT_NEAR(of_member.at({}), 0, 0.01);
  EXPECT_FALSE(of_member.contains(-12)) << "one pair says nothing of a group";
  table.leaf_of_node.clear();
  EXPECT_TRUE(parts_by_group(table, pair_effects(table), 11, 0, true).empty());
}

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

TEST(LogTimes, AreSaidAsPercent) {
  EXPECT_EQ(percent_slower(std::log(1.5)), "+50.0 %");
  EXPECT_EQ(percent_slower(std::log(2)), "+100.0 %");
  EXPECT_EQ(percent_slower(std::log(400)), "+39900.0 %");  // 1 Gb/s where others have 400
  EXPECT_EQ(percent_slower(std::log(3e5)), "too wide");
  EXPECT_EQ(percent_slower(NAN), "not known");
}

TEST(LogTimes, AreSaidAsWhatSomebodyTakesLonger) {
  EXPECT_EQ(time_words(std::log(1.98)), "98.0 % longer");
  EXPECT_EQ(time_words(std::log(1.98), "the median"), "98.0 % longer than the median");
  EXPECT_EQ(time_words(std::log(0.997)), "0.3 % less time");
  EXPECT_EQ(time_words(std::log(3e5), "its siblings"), "more than 1,000 times as long as its siblings");
  EXPECT_EQ(time_words(NAN), "an unknown time");
}

}  // namespace
}  // namespace collbench::analysis::pair_effects_test
