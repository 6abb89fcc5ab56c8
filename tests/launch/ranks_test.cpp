#include "launch/ranks.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/launch/rank_threads.hpp"

namespace collbench::launch::ranks_test {
namespace {

using ::testing::ElementsAre;

TEST(Ranks, ValuesReachEveryRank) {
  run_rank_threads(3, [](Ranks& ranks) {
    EXPECT_EQ(broadcast_value(ranks, 10 + ranks.rank()), 10);
    EXPECT_EQ(broadcast_value(ranks, 10 + ranks.rank(), 2), 12);
    EXPECT_THAT(all_gather_values(ranks, ranks.rank() * 0.5), ElementsAre(0, 0.5, 1));
  });
}

}  // namespace
}  // namespace collbench::launch::ranks_test
