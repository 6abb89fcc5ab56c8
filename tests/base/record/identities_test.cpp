#include "base/record/identities.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <vector>

namespace collbench::identities_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

/// Ranks 0, 1, … on the nodes given.
Identities ranks_on(const std::vector<int>& nodes) {
  Identities identities;
  for (std::size_t r = 0; r < nodes.size(); ++r) {
    identities.push_back(
        {.rank = static_cast<int>(r), .host = "n" + std::to_string(nodes[r]), .node = nodes[r]});
  }
  return identities;
}

TEST(NodeCount, CountsHosts) {
  EXPECT_EQ(node_count({}), 0);
  EXPECT_EQ(node_count(ranks_on({0})), 1);
  EXPECT_EQ(node_count(ranks_on({0, 1, 0, 2})), 3);
}

TEST(RanksPerNode, CountsUnevenLayouts) {
  EXPECT_THAT(ranks_per_node({}), IsEmpty());
  EXPECT_THAT(ranks_per_node(ranks_on({0, 0, 0, 1, 2, 2})), ElementsAre(3, 1, 2));
}

TEST(RanksTakeTurns, WhereANodeHasMoreOfThemThanCores) {
  const Identities identities = ranks_on({0, 0, 1, 1, 1});
  EXPECT_FALSE(ranks_take_turns(identities, {2, 3}));
  EXPECT_TRUE(ranks_take_turns(identities, {2, 2}));
  EXPECT_TRUE(ranks_take_turns(identities, {1, 64}));
  EXPECT_FALSE(ranks_take_turns(identities, {})) << "nobody knows";
}

}  // namespace
}  // namespace collbench::identities_test
