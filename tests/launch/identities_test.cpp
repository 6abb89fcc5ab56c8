#include "launch/rank_environment.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.hpp"
#include "tests/launch/rank_threads.hpp"

namespace collbench::launch::identities_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string why_refused(std::string_view map, int ranks) {
  try {
    static_cast<void>(parse_node_map(map, ranks));
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), ExitStatus::usage);
    return error.what();
  }
  return "accepted";
}

TEST(NodeMap, ReadsRangesAndLists) {
  EXPECT_THAT(parse_node_map("0-1,2-3", 4), ElementsAre(0, 0, 1, 1));
  EXPECT_THAT(parse_node_map("0+2,1+3", 4), ElementsAre(0, 1, 0, 1));
  EXPECT_THAT(parse_node_map("0-1+4,2-3", 5), ElementsAre(0, 0, 1, 1, 0));
  EXPECT_THAT(parse_node_map("0", 1), ElementsAre(0));
}

TEST(NodeMap, NamesWhatIsWrong) {
  EXPECT_THAT(why_refused("0-1,2", 4), HasSubstr("leaves out rank 3 of 4"));
  EXPECT_THAT(why_refused("0-1,1-3", 4), HasSubstr("names rank 1 twice"));
  EXPECT_THAT(why_refused("0-4", 4), HasSubstr("names rank 4, but there are 4 ranks"));
  EXPECT_THAT(why_refused("0-1", 1), HasSubstr("names rank 1, but there is rank 0 alone"));
  EXPECT_THAT(why_refused("3-0", 4), HasSubstr("'3-0'"));
  EXPECT_THAT(why_refused("0-1,", 2), HasSubstr("has ''"));
  EXPECT_THAT(why_refused("0-1-2", 3), HasSubstr("'0-1-2'"));
  EXPECT_THAT(why_refused("a", 1), HasSubstr("'a'"));
  EXPECT_THAT(why_refused("-1", 2), HasSubstr("'-1'"));
  EXPECT_THAT(why_refused("99999999999999999999", 2), HasSubstr("999"));
}

TEST(Identities, NodesDifferByTheirSharedMemoryAndNotByTheirName) {
  // Two containers, both called "box": ranks 0 and 2 share memory, so do 1 and 3.
  run_rank_threads(4, [](Ranks& ranks) {
    const Identities all = discover_identities(ranks, "box", ranks.rank() % 2, std::nullopt);
    ASSERT_EQ(all.size(), 4U);
    EXPECT_EQ(all[2], (Identity{.rank = 2, .host = "box", .node = 0, .local_rank = 1}));
    EXPECT_EQ(all[3], (Identity{.rank = 3, .host = "box", .node = 1, .local_rank = 1}));
  });
}

TEST(Identities, AMapOverridesThemAndShowsInTheName) {
  run_rank_threads(4, [](Ranks& ranks) {
    const Identities all = discover_identities(ranks, "box", 0, parse_node_map("0-1,2-3", 4));
    EXPECT_EQ(all[2], (Identity{.rank = 2, .host = "box#1", .node = 1, .local_rank = 0}));
    EXPECT_EQ(node_count(all), 2);
  });
}

}  // namespace
}  // namespace collbench::launch::identities_test
