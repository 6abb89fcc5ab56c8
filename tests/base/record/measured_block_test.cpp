#include "base/record/measured_block.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/base/record/random_run.hpp"

namespace collbench::measured_block_test {
namespace {

using ::testing::HasSubstr;

std::string message_of(const Json& json) {
  try {
    const nlohmann::json document = json;
    static_cast<void>(block_from_json(JsonReader(document, "run.stream:2"), 4, 2));
  } catch (const Error& error) {
    return describe(error);
  }
  return "nothing was thrown";
}

TEST(MeasuredBlockJson, WhatIsWrittenIsReadBack) {
  RandomRun random(7);
  for (int i = 0; i < 500; ++i) {
    const MeasuredBlock block = random.block(4, 2);
    const auto document = nlohmann::json::parse(json_line(block_to_json(block)));
    ASSERT_EQ(block_from_json(JsonReader(document, "run.stream:2"), 4, 2), block);
  }
}

TEST(MeasuredBlockJson, ASampleHasAsManyDigitsAsItsFloat) {
  MeasuredBlock block;
  block.samples = {1.1e-6F};
  EXPECT_EQ(json_line(block_to_json(block)["samples_seconds"]), "[1.1e-06]");
}

TEST(MeasuredBlockJson, ARowOrARankThatTheRunDoesNotHaveIsRefused) {
  RandomRun random(8);
  const MeasuredBlock block = random.block(4, 2);
  Json json = block_to_json(block);
  EXPECT_EQ(message_of(json), "nothing was thrown");
  json["row"] = 4;
  EXPECT_THAT(message_of(json), HasSubstr("a row below 4"));
  json["row"] = 0;
  json["rank_times"]["rank"].push_back(2);
  EXPECT_THAT(message_of(json), HasSubstr("arrays of one length"));
  json["rank_times"] = rank_times_to_json({{0, 1, 1}, {1, 1, 1}});
  json["rank_times"]["page_faults"].push_back(2);
  EXPECT_THAT(message_of(json), HasSubstr("arrays of one length"));
  json["rank_times"].erase("page_faults");
  EXPECT_EQ(message_of(json), "nothing was thrown") << "as written by 0.1.0 before it counted them";
  json["rank_times"] = rank_times_to_json({{0, 1, 1}});
  EXPECT_THAT(message_of(json), HasSubstr("the times of 2 ranks"));
  json.erase("seconds");
  EXPECT_THAT(message_of(json), HasSubstr("run.stream:2: has no seconds"));
}

}  // namespace
}  // namespace collbench::measured_block_test
