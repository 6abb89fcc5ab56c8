#include "tools/burnin/attribution/blame.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "tools/burnin/tests/attribution/made_pairs.hpp"

namespace collbench::analysis::blame_test {
namespace {

using Slower = std::function<double(int, int, int)>;

void add_alone_pair(PairTable& table, int a, int b, double slower) {
  table.times.push_back({a, b, 0, 1e-3 * slower, true});
  table.times.push_back({b, a, 0, 1e-3 * slower, true});
}

/// Against n0 and n1.
void add_alone(PairTable& table, int node, double slower) {
  for (const int peer : {0, 1}) add_alone_pair(table, node, peer, slower);
}

PairTable in_company(PairTable table) {
  for (RailTime& time : table.times) time.alone = false;
  return table;
}

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

TEST(Blame, WhatRanInCompanyMakesASuspectAndASmallLossNobody) {
  PairTable table = made_pairs(8, 2, [](int a, int, int r) { return a == 4 && r == 0 ? 2.0 : 1; });
  for (RailTime& time : table.times) time.alone = false;
  EXPECT_EQ(attribute(table).nodes[4].bucket, Bucket::suspect);
  EXPECT_EQ(attribute(made_pairs(8, 2, [](int a, int, int r) { return a == 4 && r == 0 ? 1.03 : 1; }))
                .nodes[4]
                .bucket,
            Bucket::good);
}

TEST(Blame, WhoIsFineAloneWasDisturbed) {
  PairTable table = made_pairs(8, 1, [](int a, int b, int) { return a == 4 || b == 4 ? 2.0 : 1; });
  for (RailTime& time : table.times) time.alone = false;
  EXPECT_EQ(attribute(table).nodes[4].bucket, Bucket::suspect);
  const PairTable company = table;
  add_alone(table, 4, 1);
  EXPECT_EQ(attribute(table).nodes[4].bucket, Bucket::suspect) << "nothing alone to compare with";
  add_alone_pair(table, 0, 1, 1);
  EXPECT_EQ(attribute(table).nodes[4].bucket, Bucket::good);
  PairTable again = company;
  add_alone(again, 4, 2);
  add_alone_pair(again, 0, 1, 1);
  EXPECT_EQ(attribute(again).nodes[4].bucket, Bucket::bad);
}

// Company costs everybody half as much again, and n4 a third on its own: alone it is slow beside those alone.
TEST(Blame, TimesAloneAreComparedWithTimesAlone) {
  PairTable table =
      in_company(made_pairs(8, 1, [](int a, int b, int) { return 1.5 * (a == 4 || b == 4 ? 1.3 : 1); }));
  add_alone(table, 4, 1.3);
  add_alone_pair(table, 0, 1, 1);
  const Attribution found = attribute(table);
  EXPECT_EQ(found.nodes[4].bucket, Bucket::bad);
  EXPECT_NEAR(found.blames.at(0).times_slower, 1.3, 0.01);
}

TEST(Blame, WhatANodeCostsIsWhatItCostsAlone) {
  PairTable table =
      in_company(made_pairs(8, 1, [](int a, int b, int) { return a == 4 || b == 4 ? 1.3 : 1; }));
  add_alone(table, 4, 1.08);
  add_alone_pair(table, 0, 1, 1);
  const Attribution found = attribute(table);
  EXPECT_EQ(found.nodes[4].bucket, Bucket::bad);
  EXPECT_NEAR(found.blames.at(0).times_slower, 1.08, 0.005);
  EXPECT_TRUE(found.blames.at(0).confirmed);
}

TEST(Blame, APathIsConfirmedOrClearedByTimesAlone) {
  PairTable table = in_company(made_pairs(8, 1, [](int a, int b, int) { return a + b == 1 ? 2.0 : 1; }));
  EXPECT_FALSE(attribute(table).blames.at(0).confirmed);
  add_alone_pair(table, 0, 4, 1);
  add_alone_pair(table, 1, 4, 1);
  PairTable slow = table;
  add_alone_pair(slow, 0, 1, 2);
  EXPECT_EQ(attribute(slow).nodes[0].bucket, Bucket::suspect);
  add_alone_pair(table, 0, 1, 1);
  EXPECT_TRUE(attribute(table).blames.empty());
}

TEST(Blame, NobodyBelowABlamedLeafIsGood) {
  PairTable table = in_company(
      made_pairs(16, 1, [](int a, int b, int) { return a < 2 || b < 2 || a == 5 || b == 5 ? 1.5 : 1; }));
  for (int node = 0; node < 16; ++node) table.leaf_of_node.push_back(node / 2);
  const Attribution found = attribute(table);
  for (const int node : {0, 1, 5}) EXPECT_EQ(found.nodes[slot_of(node)].bucket, Bucket::suspect) << node;
  for (const Blame& blame : found.blames) {
    if (blame.kind != BlameKind::leaf) continue;
    EXPECT_NE(blame.evidence.find("and 1 of the 14 of other leaves"), std::string::npos) << blame.evidence;
  }
}

TEST(Blame, OfTwoSlowRailsNeitherSaysThatTheOthersAreFine) {
  const Attribution found = attribute(made_pairs(
      6, 4, [](int a, int b, int r) { return (a == 2 || b == 2) && (r == 1 || r == 2) ? 2.0 : 1; }));
  ASSERT_EQ(found.blames.size(), 2U);
  for (const Blame& blame : found.blames)
    EXPECT_NE(blame.evidence.find("of its other rails 1 slow, 0 not known, of 3"), std::string::npos)
        << blame.evidence;
}

TEST(Blame, AHalfThatIsSlowIsNotCalledGood) {
  for (const int nodes : {4, 8}) {
    const Attribution found = attribute(
        made_pairs(nodes, 1, [nodes](int a, int b, int) { return std::min(a, b) < nodes / 2 ? 2.0 : 1; }));
    EXPECT_NE(found.doubt.find("the median, which is the reference"), std::string::npos);
    for (const NodeVerdict& node : found.nodes)
      EXPECT_EQ(node.bucket, node.node < nodes / 2 ? Bucket::suspect : Bucket::good) << node.node;
  }
}

// Noise only adds: 1 + |N(0, sigma)|.
TEST(Blame, AFewNoisyNodesAreSeldomAccused) {
  for (const double sigma : {0.02, 0.05}) {
    for (int nodes = 4; nodes <= 8; ++nodes) {
      constexpr int kFleets = 200;
      int accused = 0;
      std::uint64_t counter = 1;
      const auto uniform = [&counter] {
        return (static_cast<double>(scrambled(counter++) % 1'000'000) + 0.5) / 1e6;
      };
      for (int fleet = 0; fleet < kFleets; ++fleet) {
        PairTable table = made_pairs(nodes, 1, [](int, int, int) { return 1.0; });
        for (RailTime& time : table.times) {
          const double normal =
              std::sqrt(-2 * std::log(uniform())) * std::cos(2 * std::numbers::pi * uniform());
          time.seconds = 1e-3 * (1 + sigma * std::fabs(normal));
        }
        const Attribution found = attribute(table);
        accused += std::any_of(found.nodes.begin(), found.nodes.end(),
                               [](const NodeVerdict& node) { return node.bucket != Bucket::good; })
                       ? 1
                       : 0;
      }
      EXPECT_LE(accused, kFleets / 20) << nodes << " nodes, " << sigma;
    }
  }
}

TEST(Blame, ANodeThatWasMeasuredOnOneRailOfTwoIsNotTested) {
  PairTable table = made_pairs(6, 2, [](int, int, int) { return 1.0; });
  std::erase_if(table.times,
                [](const RailTime& time) { return time.rail == 1 && (time.from == 3 || time.to == 3); });
  EXPECT_EQ(attribute(table).nodes[3].bucket, Bucket::not_tested);
}

TEST(Blame, OfNodesThatMetTooFewNoPathIsBlamed) {
  // Of three hosts nobody's own part is known, so it is in the pairs' times.
  const PairTable table = made_pairs(3, 1, [](int from, int, int) { return from == 1 ? 1.05 : 1; });
  EXPECT_TRUE(attribute(table).blames.empty());
}

TEST(Blame, ANodeThatNobodyMetIsNotTested) {
  PairTable table = made_pairs(5, 1, [](int, int, int) { return 1.0; });
  table.nodes.emplace_back("n5");
  EXPECT_EQ(attribute(table).nodes[5].bucket, Bucket::not_tested);
}

}  // namespace
}  // namespace collbench::analysis::blame_test
