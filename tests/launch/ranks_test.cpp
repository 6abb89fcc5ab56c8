#include "launch/ranks.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/launch/rank_threads.hpp"

namespace collbench {
namespace {

using ::testing::ElementsAre;

TEST(Ranks, TextsAndValuesReachEveryRank) {
  run_rank_threads(3, [](Ranks& ranks) {
    EXPECT_EQ(broadcast_text(ranks, ranks.is_root() ? "from the root" : "something longer than it"),
              "from the root");
    EXPECT_EQ(broadcast_text(ranks, ranks.is_root() ? "" : "x"), "");
    EXPECT_EQ(broadcast_value(ranks, 10 + ranks.rank()), 10);
    EXPECT_EQ(broadcast_value(ranks, 10 + ranks.rank(), 2), 12);
    EXPECT_THAT(all_gather_values(ranks, ranks.rank() * 0.5), ElementsAre(0, 0.5, 1));
  });
}

}  // namespace
}  // namespace collbench
