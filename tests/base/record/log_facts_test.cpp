#include "base/record/log_facts.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.hpp"

namespace collbench::log_facts_test {
namespace {

TEST(LogFactsJson, AFactCarriesItsLineAndNoneIsNull) {
  LogFacts facts;
  facts.gpu = {"NVIDIA H100 80GB HBM3", 7};
  facts.nics = {{"mlx5_0", "mlx5_1"}, 31};
  const Json json = log_facts_to_json(facts);
  EXPECT_EQ(json["gpu"].dump(), R"({"value":"NVIDIA H100 80GB HBM3","line":7})");
  EXPECT_EQ(json["nics"]["value"].dump(), R"(["mlx5_0","mlx5_1"])");
  EXPECT_TRUE(json["nodes"].is_null());
}

TEST(LogFactsJson, WhatIsNoFactIsNamedByItsPath) {
  nlohmann::json json = nlohmann::json::parse(log_facts_to_json({}).dump());
  json["nodes"] = {{"value", "two"}, {"line", 3}};
  try {
    (void)log_facts_from_json(JsonReader(json, "run.json"));
    FAIL() << "read text for a number";
  } catch (const Error& error) {
    EXPECT_THAT(describe(error), testing::HasSubstr("nodes.value"));
  }
}

}  // namespace
}  // namespace collbench::log_facts_test
