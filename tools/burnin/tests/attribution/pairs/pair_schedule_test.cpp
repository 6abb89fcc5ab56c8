#include "tools/burnin/attribution/pairs/pair_schedule.hpp"

#include <gtest/gtest.h>

#include <set>

namespace collbench::analysis::pair_schedule_test {
namespace {

void expect_nobody_twice(const PairRound& round) {
  std::set<int> seen;
  for (const auto& [a, b] : round) {
    EXPECT_LT(a, b);
    EXPECT_TRUE(seen.insert(a).second && seen.insert(b).second);
  }
}

TEST(PairSchedule, InATournamentEachPairMeetsOnce) {
  for (const int nodes : {2, 3, 4, 7, 16, 255, 256}) {
    const std::vector<PairRound> rounds = pair_rounds(nodes, {});
    EXPECT_EQ(rounds.size(), static_cast<std::size_t>(nodes % 2 == 0 ? nodes - 1 : nodes));
    std::int64_t all = 0;
    for (const PairRound& round : rounds) {
      expect_nobody_twice(round);
      all += static_cast<std::int64_t>(round.size());
    }
    const PairCoverage covered = coverage(rounds, nodes);
    EXPECT_EQ(covered.pairs, covered.all_pairs);
    EXPECT_EQ(all, covered.all_pairs);
    EXPECT_EQ(covered.fewest_partners, nodes - 1);
  }
  EXPECT_TRUE(pair_rounds(1, {}).empty());
}

TEST(PairSchedule, BeyondThereAreMatchingsOfEachClass) {
  constexpr int kNodes = 1024;
  std::vector<int> leaves;
  for (int node = 0; node < kNodes; ++node) leaves.push_back(node / 32);
  const auto leaf = [&](int node) { return leaves[static_cast<std::size_t>(node)]; };
  const std::vector<PairRound> rounds = pair_rounds(kNodes, leaves);
  ASSERT_EQ(rounds.size(), 6U);
  for (std::size_t i = 0; i < rounds.size(); ++i) {
    expect_nobody_twice(rounds[i]);
    EXPECT_EQ(rounds[i].size(), 512U);
    for (const auto& [a, b] : rounds[i]) EXPECT_EQ(leaf(a) == leaf(b), i % 2 == 0);
  }
  EXPECT_GE(coverage(rounds, kNodes).fewest_partners, 4);
  EXPECT_EQ(pair_rounds(kNodes, leaves), rounds);
  EXPECT_NE(pair_rounds(kNodes, leaves, {.seed = 2}), rounds);
  EXPECT_EQ(pair_rounds(kNodes, {}).size(), 3U);
}

TEST(PairSchedule, SixteenThousandHostsArePlannedAtOnce) {
  const std::vector<PairRound> rounds = pair_rounds(16384, {});
  EXPECT_EQ(coverage(rounds, 16384).rounds, 3);
}

TEST(PairSchedule, ASuspectMeetsTwoGoodOnesAndBothEndsOfAPathOne) {
  using Pairs = std::vector<std::pair<int, int>>;
  EXPECT_EQ(retest_pairs({3}, {0, 2, 4}), (Pairs{{0, 3}, {2, 3}}));
  EXPECT_EQ(retest_pairs({1, 5}, {0, 2, 4}), (Pairs{{1, 5}, {0, 1}, {0, 5}}));
  EXPECT_TRUE(retest_pairs({3}, {}).empty());
}

TEST(PairSchedule, WhatDoesNotFitIsLeftOut) {
  EXPECT_EQ(fitting(pair_rounds(16, {}), 10, 3).size(), 3U);
  EXPECT_EQ(fitting(pair_rounds(16, {}), 1000, 3).size(), 15U);
  EXPECT_TRUE(fitting(pair_rounds(16, {}), 0, 3).empty());
}

}  // namespace
}  // namespace collbench::analysis::pair_schedule_test
