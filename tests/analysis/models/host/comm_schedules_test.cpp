#include "analysis/models/host/comm_schedules.hpp"

#include <gmock/gmock.h>

#include <set>
#include <utility>

#include "tests/analysis/models/host/host_model_fixture.hpp"

namespace collbench::analysis::comm_schedules_test {
namespace {

using Pairs = std::set<std::pair<int, int>>;

Pairs pairs(const Round& round) {
  Pairs result;
  for (const Hop& hop : round.hops) result.emplace(hop.from, hop.to);
  return result;
}

TEST(Hypercube, PairsRanksOfAPowerOfTwo) {
  const HostModel model = model_of(in_node_order(1, 4));
  const Hypercube cube(model);
  EXPECT_EQ(cube.participants(), 4);
  EXPECT_FALSE(cube.has_guests());
  EXPECT_EQ(pairs(cube.exchange(1)), (Pairs{{0, 1}, {1, 0}, {2, 3}, {3, 2}}));
  EXPECT_EQ(pairs(cube.exchange(2)), (Pairs{{0, 2}, {2, 0}, {1, 3}, {3, 1}}));
  EXPECT_EQ(pairs(cube.mirror()), (Pairs{{1, 2}, {2, 1}}));  // 01 ↔ 10
}

TEST(Hypercube, TheRanksThatAreTooManyAreGuestsOfTheirNeighbors) {
  const HostModel model = model_of(in_node_order(1, 6));
  const Hypercube cube(model);
  EXPECT_EQ(cube.participants(), 4);  // ranks 1, 3, 4, 5
  EXPECT_EQ(pairs(cube.guests_to_hosts()), (Pairs{{0, 1}, {2, 3}}));
  EXPECT_EQ(pairs(cube.hosts_to_guests()), (Pairs{{1, 0}, {3, 2}}));
  EXPECT_EQ(pairs(cube.guests_with_hosts()), (Pairs{{0, 1}, {1, 0}, {2, 3}, {3, 2}}));
  EXPECT_EQ(pairs(cube.exchange(2)), (Pairs{{1, 4}, {4, 1}, {3, 5}, {5, 3}}));
}

TEST(BinomialTree, ReachesEveryRankOnceInLogarithmicallyManyRounds) {
  for (int ranks = 2; ranks <= 17; ++ranks) {
    const HostModel model = model_of(in_node_order(1, ranks));
    const auto rounds = binomial_rounds(model, TreeWay::from_root);
    int levels = 0;
    while ((1 << levels) < ranks) ++levels;
    EXPECT_EQ(static_cast<int>(rounds.size()), levels) << ranks;
    std::set<int> reached{0};
    for (const Round& round : rounds) {
      const std::set<int> before = reached;
      for (const Hop& hop : round.hops) {
        EXPECT_TRUE(before.contains(hop.from)) << ranks;
        EXPECT_TRUE(reached.insert(hop.to).second) << ranks;
      }
    }
    EXPECT_EQ(static_cast<int>(reached.size()), ranks);

    auto back = binomial_rounds(model, TreeWay::to_root);
    std::reverse(back.begin(), back.end());
    for (std::size_t i = 0; i < rounds.size(); ++i) {
      Pairs turned;
      for (const auto& [from, to] : pairs(back[i])) turned.emplace(to, from);
      EXPECT_EQ(turned, pairs(rounds[i])) << ranks;
    }
  }
}

TEST(Linear, IsOneMessageARound) {
  const HostModel model = model_of(in_node_order(1, 3));
  const auto to = linear_rounds(model, TreeWay::to_root);
  const auto from = linear_rounds(model, TreeWay::from_root);
  ASSERT_EQ(to.size(), 2U);
  ASSERT_EQ(from.size(), 2U);
  EXPECT_EQ(pairs(to[1]), (Pairs{{2, 0}}));
  EXPECT_EQ(pairs(from[0]), (Pairs{{0, 1}}));
}

TEST(RoundPatterns, AreCountedFromTheirRoot) {
  const HostModel model = model_of(in_node_order(1, 4));
  EXPECT_EQ(pairs(linear_rounds(model, TreeWay::to_root, 2).front()), (Pairs{{3, 2}}));
  EXPECT_EQ(pairs(linear_rounds(model, TreeWay::from_root, 2).back()), (Pairs{{2, 1}}));
  EXPECT_EQ(pairs(binomial_rounds(model, TreeWay::to_root, 3).back()), (Pairs{{1, 3}}));
  EXPECT_EQ(pairs(binomial_rounds(model, TreeWay::from_root, 3).front()), (Pairs{{3, 1}}));
  EXPECT_EQ(pairs(binomial_rounds(model, TreeWay::from_root, 1).back()), (Pairs{{1, 2}, {3, 0}}));
  EXPECT_EQ(pairs(chain_round(model, TreeWay::from_root, 2)), (Pairs{{2, 3}, {3, 0}, {0, 1}}));
  EXPECT_EQ(pairs(chain_round(model, TreeWay::to_root, 2)), (Pairs{{1, 0}, {0, 3}, {3, 2}}));
}

}  // namespace
}  // namespace collbench::analysis::comm_schedules_test
