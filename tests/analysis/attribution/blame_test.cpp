#include "analysis/attribution/blame.hpp"

#include <gtest/gtest.h>

#include "tests/analysis/attribution/made_pairs.hpp"

namespace collbench::analysis::blame_test {
namespace {

using Slower = std::function<double(int, int, int)>;

struct Pattern {
  const char* what;
  Slower slower;
  BlameKind kind;
  std::vector<int> nodes;
  std::optional<int> rail;
};

TEST(Blame, EachPatternOfFourHostsWithTwoRailsIsNamed) {
  for (const Pattern& each : std::vector<Pattern>{
           {"a NIC at half",
            [](int a, int b, int r) { return r == 1 && (a == 2 || b == 2) ? 2.0 : 1; },
            BlameKind::nic,
            {2},
            1},
           {"a NIC at 90 %",
            [](int a, int b, int r) { return r == 0 && (a == 1 || b == 1) ? 1.11 : 1; },
            BlameKind::nic,
            {1},
            0},
           {"Tx",
            [](int a, int, int r) { return r == 0 && a == 3 ? 2.0 : 1; },
            BlameKind::nic_transmit,
            {3},
            0},
           {"Rx",
            [](int, int b, int r) { return r == 0 && b == 0 ? 2.0 : 1; },
            BlameKind::nic_receive,
            {0},
            0},
           {"a host", [](int a, int b, int) { return a == 1 || b == 1 ? 1.5 : 1; }, BlameKind::host, {1}, {}},
           {"a path",
            [](int a, int b, int r) { return r == 1 && a + b == 3 && a * b == 0 ? 2.0 : 1; },
            BlameKind::path,
            {0, 3},
            1},
       }) {
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
      const Attribution found = attribute(made_pairs(4, 2, each.slower, seed));
      ASSERT_FALSE(found.blames.empty()) << each.what;
      EXPECT_EQ(found.blames.front().kind, each.kind) << each.what << ": " << found.blames.front().evidence;
      EXPECT_EQ(found.blames.front().nodes, each.nodes) << each.what;
      EXPECT_EQ(found.blames.front().rail, each.rail) << each.what;
      for (const NodeVerdict& node : found.nodes) {
        const bool blamed = std::find(each.nodes.begin(), each.nodes.end(), node.node) != each.nodes.end();
        const Bucket wanted = !blamed                        ? Bucket::good
                              : each.kind == BlameKind::path ? Bucket::suspect
                                                             : Bucket::bad;
        EXPECT_EQ(node.bucket, wanted) << each.what << ", node " << node.node << ": " << node.why;
      }
    }
  }
}

TEST(Blame, AHealthyFleetIsNotAccused) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    const Attribution found = attribute(made_pairs(8, 2, [](int, int, int) { return 1.0; }, seed));
    EXPECT_TRUE(found.blames.empty()) << found.blames.front().evidence;
    for (const NodeVerdict& node : found.nodes) EXPECT_EQ(node.bucket, Bucket::good);
  }
}

TEST(Blame, ALeafATrunkAndARailAreNamedWhereTheLeavesAreKnown) {
  const auto on_leaves = [](const Slower& slower, int rails) {
    PairTable table = made_pairs(16, rails, slower);
    for (int node = 0; node < 16; ++node) table.leaf_of_node.push_back(node / 4);
    return attribute(table).blames;
  };
  const auto leaf = on_leaves(
      [](int a, int b, int r) { return r == 1 && a / 4 != b / 4 && (a / 4 == 2 || b / 4 == 2) ? 1.5 : 1; },
      2);
  ASSERT_FALSE(leaf.empty());
  EXPECT_EQ(leaf.front().kind, BlameKind::leaf);
  EXPECT_EQ(leaf.front().nodes, (std::vector<int>{8, 9, 10, 11}));
  const auto trunk = on_leaves(
      [](int a, int b, int) { return (a / 4 == 0 && b / 4 == 3) || (a / 4 == 3 && b / 4 == 0) ? 1.5 : 1; },
      1);
  ASSERT_EQ(trunk.size(), 1U);
  EXPECT_EQ(trunk.front().kind, BlameKind::trunk);
  const auto rail = on_leaves([](int, int, int r) { return r == 2 ? 1.3 : 1; }, 4);
  ASSERT_EQ(rail.size(), 1U);
  EXPECT_EQ(rail.front().kind, BlameKind::rail);
  EXPECT_EQ(rail.front().rail, 2);
}

TEST(Blame, WhatRanInCompanyMakesASuspectAndASmallLossNoBadNode) {
  PairTable table = made_pairs(8, 2, [](int a, int, int r) { return a == 4 && r == 0 ? 2.0 : 1; });
  for (RailTime& time : table.times) time.alone = false;
  EXPECT_EQ(attribute(table).nodes[4].bucket, Bucket::suspect);
  EXPECT_EQ(attribute(made_pairs(8, 2, [](int a, int, int r) { return a == 4 && r == 0 ? 1.03 : 1; }))
                .nodes[4]
                .bucket,
            Bucket::suspect);
}

TEST(Blame, WhoIsFineAloneWasDisturbed) {
  PairTable table = made_pairs(8, 1, [](int a, int b, int) { return a == 4 || b == 4 ? 2.0 : 1; });
  for (RailTime& time : table.times) time.alone = false;
  EXPECT_EQ(attribute(table).nodes[4].bucket, Bucket::suspect);
  const PairTable company = table;
  for (const int peer : {0, 1}) {
    table.times.push_back({4, peer, 0, 1e-3, true});
    table.times.push_back({peer, 4, 0, 1e-3, true});
  }
  EXPECT_EQ(attribute(table).nodes[4].bucket, Bucket::good);
  PairTable again = company;
  for (const int peer : {0, 1}) {
    again.times.push_back({4, peer, 0, 2e-3, true});
    again.times.push_back({peer, 4, 0, 2e-3, true});
  }
  EXPECT_EQ(attribute(again).nodes[4].bucket, Bucket::bad);
}

TEST(Blame, ANodeThatNobodyMetIsNotTested) {
  PairTable table = made_pairs(5, 1, [](int, int, int) { return 1.0; });
  table.nodes.emplace_back("n5");
  EXPECT_EQ(attribute(table).nodes[5].bucket, Bucket::not_tested);
}

}  // namespace
}  // namespace collbench::analysis::blame_test
