#include "tools/burnin/attribution/steadiness.hpp"

#include <gmock/gmock.h>

#include <algorithm>

#include "tools/burnin/tests/attribution/made_pairs.hpp"

namespace collbench::analysis {
namespace {

using ::testing::Contains;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

PairTable in_company(int nodes, const std::function<double(int, int, int)>& slower) {
  PairTable table = made_pairs(nodes, 2, slower);
  for (RailTime& time : table.times) time.alone = false;
  return table;
}

void add_alone(PairTable& table, int a, int b, double slower) {
  for (const auto& [from, to] : {std::pair(a, b), std::pair(b, a)})
    table.times.push_back({from, to, 1, 1e-3 * slower, true});
}

/// n1 of four hosts is at half on rail 1 now and then: with n2 when all ran, and alone with n0 and n3.
PairTable coming_and_going() {
  PairTable table = in_company(4, [](int a, int b, int rail) {
    return rail == 1 && std::minmax(a, b) == std::minmax(1, 2) ? 2.0 : 1;
  });
  for (const auto& [a, b, slower] : std::vector<std::tuple<int, int, double>>{{1, 2, 1},
                                                                              {0, 1, 2},
                                                                              {2, 3, 1},
                                                                              {1, 3, 1},
                                                                              {0, 2, 1},
                                                                              {1, 2, 2},
                                                                              {0, 3, 1},
                                                                              {0, 1, 1},
                                                                              {2, 3, 1},
                                                                              {1, 3, 2},
                                                                              {0, 2, 1},
                                                                              {0, 3, 1}})
    add_alone(table, a, b, slower);
  return table;
}

TEST(Steadiness, ANicThatComesAndGoesIsNamedAndNobodyElse) {
  const PairTable table = coming_and_going();
  const std::vector<UnsteadyPart> parts = unsteady_parts(table, pair_effects(table));
  ASSERT_THAT(parts, SizeIs(1));
  EXPECT_EQ(parts[0].node, 1);
  EXPECT_EQ(parts[0].rail, 1);
  EXPECT_EQ(parts[0].slow, 6);
  EXPECT_EQ(parts[0].measured, 12);
  EXPECT_EQ(parts[0].without, 12);
  const Attribution found = attribute(table);
  ASSERT_THAT(found.blames, SizeIs(1));
  EXPECT_EQ(found.blames[0].kind, BlameKind::nic);
  EXPECT_THAT(found.blames[0].evidence, HasSubstr("comes and goes: it takes 10"));
  // Three of six launches with it, none of six without: chance has that often enough, of four nodes and two
  // rails.
  EXPECT_FALSE(found.blames[0].confirmed);
  EXPECT_THAT(found.blames[0].evidence, HasSubstr("so few launches may be slow by chance"));
  for (const NodeVerdict& node : found.nodes)
    EXPECT_EQ(node.bucket, node.node == 1 ? Bucket::suspect : Bucket::good) << node.node << ": " << node.why;
}

TEST(Steadiness, WhatChanceCannotDoIsBad) {
  PairTable table = coming_and_going();
  for (int repeat = 0; repeat < 4; ++repeat) {
    for (const int peer : {0, 2, 3}) add_alone(table, 1, peer, 2);
    for (const auto& [a, b] : {std::pair(0, 2), std::pair(2, 3), std::pair(0, 3)}) add_alone(table, a, b, 1);
  }
  const Attribution found = attribute(table);
  ASSERT_THAT(found.blames, SizeIs(1));
  EXPECT_TRUE(found.blames[0].confirmed);
  EXPECT_EQ(found.nodes[1].bucket, Bucket::bad) << found.nodes[1].why;
}

// Slow with both in company, too: that is its scatter and nobody else's.
TEST(Steadiness, WhatComesAndGoesHoldsNobodyElseBack) {
  PairTable table = coming_and_going();
  for (RailTime& time : table.times) {
    const bool is_slow =
        !time.alone && time.rail == 1 && time.from + time.to == 1 && time.from * time.to == 0;
    if (is_slow) time.seconds *= 2;
  }
  const Attribution found = attribute(table);
  EXPECT_LT(found.blind_below, 0.06);
  for (const NodeVerdict& node : found.nodes)
    EXPECT_EQ(node.bucket, node.node == 1 ? Bucket::suspect : Bucket::good) << node.node << ": " << node.why;
}

TEST(Steadiness, WhoIsSlowEachTimeDoesNotComeAndGo) {
  PairTable table =
      in_company(4, [](int a, int b, int rail) { return rail == 1 && (a == 1 || b == 1) ? 2.0 : 1; });
  for (const int peer : {0, 2, 3}) add_alone(table, 1, peer, 2);
  add_alone(table, 0, 2, 1);
  add_alone(table, 2, 3, 1);
  EXPECT_THAT(unsteady_parts(table, pair_effects(table)), IsEmpty());
}

TEST(Steadiness, WhereOthersAreSlowWithoutItNobodyIsNamed) {
  PairTable table = coming_and_going();
  add_alone(table, 0, 2, 2);
  EXPECT_THAT(unsteady_parts(table, pair_effects(table)), IsEmpty());
}

// Noise that began when most was measured: six of eight directions with n1 are slow, and none of two without
// it.
TEST(Steadiness, WhatChanceCouldDoNamesNobody) {
  PairTable table = in_company(4, [](int, int, int) { return 1.0; });
  for (const auto& [a, b, slower] :
       std::vector<std::tuple<int, int, double>>{{1, 2, 1.2}, {0, 1, 1.2}, {1, 3, 1.3}, {1, 2, 1}, {0, 3, 1}})
    add_alone(table, a, b, slower);
  EXPECT_THAT(unsteady_parts(table, pair_effects(table)), IsEmpty());
}

// The pair of hosts that was slow once in company, and of whose repeats some are slow, is no host's fault
// yet.
TEST(Steadiness, APathThatComesAndGoesMakesNobodySuspect) {
  PairTable table = in_company(4, [](int a, int b, int rail) {
    return rail == 1 && std::minmax(a, b) == std::minmax(1, 2) ? 2.0 : 1;
  });
  for (const double slower : {1.0, 2.0, 1.0}) add_alone(table, 1, 2, slower);
  for (const int peer : {1, 2}) add_alone(table, 0, peer, 1);
  const Attribution found = attribute(table);
  ASSERT_THAT(found.blames, SizeIs(1));
  EXPECT_EQ(found.blames[0].kind, BlameKind::path);
  EXPECT_FALSE(found.blames[0].confirmed);
  EXPECT_THAT(found.blames[0].evidence, HasSubstr("in 1 of 3 launches alone"));
  for (const NodeVerdict& node : found.nodes) EXPECT_EQ(node.bucket, Bucket::good) << node.why;
}

// Seen on a fabric: a path at half, slow in each of four launches, and one hiccup of a pair beside it.
TEST(Steadiness, APathThatStaysSlowIsAPathWhateverHiccupOneOfItsEndsHas) {
  PairTable table = in_company(4, [](int a, int b, int rail) {
    return rail == 1 && std::minmax(a, b) == std::minmax(0, 3) ? 2.0 : 1;
  });
  for (int repeat = 0; repeat < 4; ++repeat) {
    add_alone(table, 0, 3, 2);
    for (const auto& [a, b] :
         {std::pair(1, 3), std::pair(0, 2), std::pair(2, 3), std::pair(0, 1), std::pair(1, 2)})
      add_alone(table, a, b, 1);
  }
  table.times.push_back({3, 1, 1, 1.5e-3, true});
  EXPECT_THAT(unsteady_parts(table, pair_effects(table)), IsEmpty());
  const Attribution found = attribute(table);
  ASSERT_THAT(found.blames, SizeIs(1));
  EXPECT_EQ(found.blames[0].kind, BlameKind::path);
}

TEST(Steadiness, RepeatsTellBothEndsOfAPathApart) {
  PairTable table = in_company(6, [](int a, int b, int rail) {
    return rail == 1 && std::minmax(a, b) == std::minmax(1, 2) ? 2.0 : 1;
  });
  const Attribution found = attribute(table);
  ASSERT_THAT(found.blames, SizeIs(1));
  const auto pairs = steadiness_pairs(table, found, {0, 3, 4, 5});
  EXPECT_THAT(pairs, SizeIs(18));
  for (const auto& pair :
       {std::pair(1, 2), std::pair(0, 1), std::pair(2, 3), std::pair(1, 3), std::pair(0, 2)})
    EXPECT_EQ(std::count(pairs.begin(), pairs.end(), PairOnRail(pair, 1)), 3) << pair.first;
  // Once they are there, they are not measured again.
  for (int repeat = 0; repeat < 4; ++repeat) add_alone(table, 1, 2, 2);
  EXPECT_THAT(steadiness_pairs(table, attribute(table), {0, 3, 4, 5}), IsEmpty());
}

TEST(Steadiness, WhomTimesAloneClearedIsMetAgainAndManyAreOthersTraffic) {
  const auto cleared = [](int slow_nodes) {
    PairTable table = in_company(32, [slow_nodes](int a, int b, int rail) {
      return rail == 1 && (a < slow_nodes || b < slow_nodes) ? 1.5 : 1;
    });
    for (int node = 0; node < slow_nodes; ++node)
      for (const int peer : {30, 31}) add_alone(table, node, peer, 1);
    add_alone(table, 29, 30, 1);
    const Attribution found = attribute(table);
    EXPECT_THAT(found.blames, IsEmpty());
    EXPECT_THAT(found.cleared, SizeIs(slow_nodes));
    return steadiness_pairs(table, found, {28, 29, 30, 31});
  };
  EXPECT_THAT(cleared(1), SizeIs(9));
  EXPECT_THAT(cleared(5), IsEmpty());
}

}  // namespace
}  // namespace collbench::analysis
