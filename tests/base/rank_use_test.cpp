#include "base/rank_use.hpp"

#include <gmock/gmock.h>

namespace collbench {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(RankUse, ReadBackItIsTheSame) {
  const std::vector<RankUse> uses{{0.5, 1.25, 12'345'678'901, 7}, {}};
  const std::string line = rank_use_line(uses);
  EXPECT_EQ(rank_uses_in("mpirun says\n" + line + "\nmore"), uses);
  EXPECT_EQ(line, "collbench rank use: [[0.5,1.25,12345678901,7],[0.0,0.0,0,0]]");
}

TEST(RankUse, WhatCannotBeReadSaysNothing) {
  for (const char* said :
       {"", "collbench rank use: ", "collbench rank use: [[1,2,3]]", "collbench rank use: [[1,2,3,-4]]",
        "collbench rank use: {}", "collbench rank use: [[\"a\",2,3,4]]"})
    EXPECT_THAT(rank_uses_in(said), IsEmpty()) << said;
}

}  // namespace
}  // namespace collbench
