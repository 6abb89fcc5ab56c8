#include "base/record/straggler_probe.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/base/record/random_run.hpp"

namespace collbench::straggler_probe_test {
namespace {

using ::testing::HasSubstr;

TEST(RankProbeJson, WhatIsWrittenIsReadBack) {
  RandomRun random(9);
  for (int i = 0; i < 300; ++i) {
    const RankProbe probe = random.rank_probe();
    const auto document = nlohmann::json::parse(json_line(rank_probe_to_json(probe)));
    ASSERT_EQ(rank_probe_from_json(JsonReader(document, "run.json")), probe);
  }
}

TEST(RankProbeJson, ColumnsOfDifferentLengthsAreRefused) {
  Json json = rank_probe_to_json({});
  json["ranks"]["rank"].push_back(0);
  const nlohmann::json document = json;
  try {
    static_cast<void>(rank_probe_from_json(JsonReader(document, "run.json")));
    ADD_FAILURE() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("four arrays of one length"));
  }
}

}  // namespace
}  // namespace collbench::straggler_probe_test
