#include "base/record/json_fields.hpp"

#include <gmock/gmock.h>

namespace collbench::json_fields_test {
namespace {

TEST(JsonFields, WhatIsNoneIsNull) {
  EXPECT_EQ(or_null(std::optional<double>()), nullptr);
  EXPECT_EQ(or_null(std::optional(1.5)), 1.5);
}

TEST(JsonFields, TypesAndReductionsTravelByName) {
  const auto document = nlohmann::json::parse(R"({"type": "half", "reduction": "avg"})");
  const JsonReader json(document, "run.json");
  EXPECT_EQ(data_type_from_json(json.at("type")), DataType::float16);
  EXPECT_EQ(reduction_from_json(json.at("reduction")), Reduction::avg);
}

TEST(JsonFields, AnUnknownNameIsAnErrorWithItsLocation) {
  const auto document = nlohmann::json::parse(R"({"type": "quad", "reduction": "xor"})");
  const JsonReader json(document, "run.json");
  try {
    static_cast<void>(data_type_from_json(json.at("type")));
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "type is \"quad\" where the name of a data type was expected");
  }
  EXPECT_THROW(static_cast<void>(reduction_from_json(json.at("reduction"))), Error);
}

}  // namespace
}  // namespace collbench::json_fields_test
