#include "base/record/rank_activity.hpp"

#include <gtest/gtest.h>

namespace collbench {
namespace {

TEST(RankActivity, WaitsInsideEitherKindOfCall) {
  RankActivity rank;
  EXPECT_FALSE(rank.waits());
  rank.calls.entered = 1;
  EXPECT_TRUE(rank.waits());
  rank.calls.left = 1;
  rank.exchanges.entered = 1;
  EXPECT_TRUE(rank.waits());
}

TEST(RankActivity, CallsAreCountedFromTheStep) {
  RankActivity rank;
  rank.calls = {.entered = 1412, .left = 1411};
  rank.calls_before_step = 1000;
  EXPECT_EQ(rank.call_of_step(), 412U);
  const Json json = rank_activity_to_json(rank);
  EXPECT_EQ(json["call_of_step"], 412);
  EXPECT_EQ(json["process"], "unknown");
  EXPECT_TRUE(json["idle_seconds"].is_null());
}

}  // namespace
}  // namespace collbench
