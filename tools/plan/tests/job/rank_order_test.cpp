#include "tools/plan/job/job.hpp"

#include <gtest/gtest.h>

#include "base/error.hpp"

namespace collbench::analysis::rank_order_test {
namespace {

TEST(RankOrder, IsReadAndWritten) {
  EXPECT_EQ(words(kUsualOrder), "tp-cp-ep-dp-pp");
  for (const char* order : {"tp-cp-ep-dp-pp", "tp-cp-ep-pp-dp", "pp-dp-ep-cp-tp"})
    EXPECT_EQ(words(parse_rank_order(order, "--order")), order);
}

TEST(RankOrder, WhatFewJobsHaveMayBeLeftOut) {
  EXPECT_EQ(words(parse_rank_order("tp-dp-pp", "--order")), "tp-cp-ep-dp-pp");
  EXPECT_EQ(words(parse_rank_order("tp-pp-dp", "--order")), "tp-cp-ep-pp-dp");
  EXPECT_EQ(words(parse_rank_order("tp-dp-cp-pp", "--order")), "tp-dp-cp-ep-pp");
}

TEST(RankOrder, RefusesWhatIsNone) {
  for (const char* order :
       {"", "tp", "tp-dp", "tp-tp-dp-pp", "tp-sp-dp-pp", "tp-dp-pp-", "tp,dp,pp", "-tp-dp-pp"})
    EXPECT_THROW(static_cast<void>(parse_rank_order(order, "--order")), Error) << order;
}

}  // namespace
}  // namespace collbench::analysis::rank_order_test
