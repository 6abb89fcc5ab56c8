#include "launch/rank_use.hpp"

#include <gtest/gtest.h>

#include <string>

namespace collbench::launch {
namespace {

TEST(RankUse, OfAConnectionThatWasClosedNothingIsNegative) {
  EXPECT_EQ(rank_use_since({3, 2, 9, 4}, {5, 1, 6, 4}), (RankUse{2, 0, 0, 0}));
}

TEST(RankUse, SaysWhoRetransmitted) {
  const Identities ranks{{0, "a", 0, 0}, {1, "b", 1, 0}, {2, "c", 2, 0}, {3, "d", 3, 0}};
  const std::vector<RankUse> uses{{1, 0, 1'000'000'000, 300'000},  // one packet in 3,300
                                  {1, 0, 1'000'000'000, 9'000'000},
                                  {1, 0, 100'000, 15'000},  // a burst as a connection was made
                                  {}};
  const std::vector<std::string> lines = lost_packets(uses, ranks);
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_EQ(lines[0].find("rank 1 (b) retransmitted 0.9 % of its TCP bytes"), 0U) << lines[0];
  EXPECT_TRUE(lost_packets({}, ranks).empty());  // on the other ranks
}

}  // namespace
}  // namespace collbench::launch
