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

TEST(Ranks, StructuresTravelAsTheyAre) {
  struct Figures {
    int rank = 0;
    double seconds = 0;
  };
  run_rank_threads(3, [](Ranks& ranks) {
    const auto all = all_gather_values(ranks, Figures{.rank = ranks.rank(), .seconds = 0.25 * ranks.rank()});
    ASSERT_EQ(all.size(), 3U);
    EXPECT_EQ(all[2].rank, 2);
    EXPECT_EQ(all[2].seconds, 0.5);
    EXPECT_EQ(gather_values(ranks, ranks.rank()).size(), ranks.is_root() ? 3U : 0U);
  });
}

TEST(Ranks, TextsArePackedIntoOne) {
  const std::vector<std::string> texts{"one", "", std::string("\0two\0", 5), std::string(70'000, 'x')};
  EXPECT_EQ(unpacked(packed(texts)), texts);
  EXPECT_TRUE(unpacked(packed({})).empty());
  EXPECT_EQ(packed({"abc", ""}).size(), 4U + 3U + 4U);
}

TEST(Ranks, SpansMayDifferInLength) {
  run_rank_threads(3, [](Ranks& ranks) {
    const std::vector<int> mine(static_cast<std::size_t>(ranks.rank()), ranks.rank());
    EXPECT_THAT(all_gather_spans(ranks, mine),
                ElementsAre(std::vector<int>{}, std::vector<int>{1}, std::vector<int>{2, 2}));
    EXPECT_EQ(gather_spans(ranks, mine).size(), ranks.is_root() ? 3U : 0U);
  });
}

}  // namespace
}  // namespace collbench::launch::ranks_test
