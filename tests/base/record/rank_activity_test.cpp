#include "base/record/rank_activity.hpp"

#include <gtest/gtest.h>

#include "tests/base/impossible_values.hpp"

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

TEST(RankActivity, NumbersAndHostsThatNothingHasAreRefusedWithTheirPath) {
  RankActivity rank;
  rank.host = "n1#0";
  rank.idle_seconds = 0;
  const auto json = nlohmann::json::parse(json_line(rank_activity_to_json(rank)));
  const auto read = [](const std::string& text, const std::string& file) {
    const nlohmann::json document = parse_json_line(text, file);
    (void)rank_activity_from_json(JsonReader(document, file));
  };
  std::set<std::string> tried;
  expect_impossible_numbers_refused(json, read, {}, tried);
  EXPECT_GT(tried.size(), 8U);
  expect_impossible_hosts_refused(json, read, {"/host"});
}

}  // namespace
}  // namespace collbench
