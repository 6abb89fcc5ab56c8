#include "base/json_reader.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace collbench::json_reader_test {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

/// What the user reads when `action` fails.
std::string message_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), ExitStatus::usage);
    return describe(error);
  }
  return "no error";
}

std::string message_of_text(std::string_view text) {
  return message_of([&] { static_cast<void>(parse_json(text, "run.json")); });
}

TEST(ParseJson, NamesTheLineAndColumnWhereTheTextIsNotJson) {
  EXPECT_THAT(message_of_text("{\n  \"a\": 1,\n  b\n}"), StartsWith("collbench: run.json:3:3: is not JSON"));
  EXPECT_THAT(message_of_text("?"), StartsWith("collbench: run.json:1:1: "));
}

TEST(ParseJson, AnEmptyFileEndsAtItsFirstColumn) {
  EXPECT_THAT(message_of_text(""), StartsWith("collbench: run.json:1:1: is not JSON: nothing stands"));
}

TEST(ParseJson, ATruncatedTextEndsAtItsEnd) {
  EXPECT_THAT(message_of_text("{\n\"a\": [1, 2"), StartsWith("collbench: run.json:2:11: "));
  const std::string whole = R"({"a": [1, -2.5e-3, true, null], "µ": "x\ny é"})";
  for (std::size_t length = 1; length < whole.size(); ++length)
    EXPECT_THAT(message_of_text(whole.substr(0, length)), HasSubstr("the file is cut: its JSON ends here"))
        << whole.substr(0, length);
  EXPECT_THAT(message_of_text("[{\"a\": 1}, "), HasSubstr("the file is cut"));
}

TEST(ParseJson, DamageIsSaidInOurWords) {
  for (const auto& [text, words] : std::vector<std::pair<std::string, std::string>>{
           {"{\"a\": nope}", ":1:8: is not JSON from here on: 'nope}' cannot stand here"},
           {"{\"a\": 1\n\"b\": 2}", ":2:3: is not JSON from here on: '\"b\": 2}' cannot stand here"},
           {"{\"a\": 1}\n{\"a\": 2}",
            ":2:1: is not JSON from here on: '{\"a\": 2}' follows where the document "
            "has ended; two files may have been written into one"},
           {"{\"a\": \"x\ny\"}", "a text between quotes holds a line end or a control character"},
           {"{\"a\": \"\xff\"}", "a byte here is not UTF-8"},
           {"{\"a\":\n1e999}", ":2:1: the number 1e999 is larger than any that can be"}}) {
    const std::string message = message_of_text(text);
    EXPECT_THAT(message, HasSubstr(words));
    for (const char* library : {"json.exception", "parse error", "last read", "unexpected", "literal"})
      EXPECT_THAT(message, testing::Not(HasSubstr(library)));
    EXPECT_THAT(message, HasSubstr("give another file"));
  }
}

TEST(ParseJson, ANumberThatNoDoubleHoldsIsAnError) {
  EXPECT_THAT(message_of_text("[1e999]"), HasSubstr("1e999"));
}

TEST(ParseJson, DeepNestingIsAnErrorAndNoCrash) {
  EXPECT_THAT(message_of_text(std::string(100000, '[')), HasSubstr("is nested deeper than 200 levels"));
}

TEST(ParseJson, AKeyThatAnObjectHasTwiceIsRefusedWithItsPath) {
  for (const auto& [text, path] : std::vector<std::pair<std::string, std::string>>{
           {R"({"a": 1, "a": 1})", "a"},
           {R"({"a": [], "b": [{"c": 1}, {"c": 1, "d": {}, "c": 2}]})", "b[1].c"},
           {R"([[], [1, {"x": {"y": null, "y": null}}]])", "[1][1].x.y"},
           {"{\"a\": 1, \"\\u0061\": 2}", "a"},
           {R"({"a": {"b": 1}, "c": {"b": 1}, "a": {}})", "a"},
           {R"({"": 1, "": 2})", "\"\""}}) {
    EXPECT_THAT(message_of_text(text),
                StartsWith("collbench: run.json: has " + path + " twice where one value was expected; "))
        << text;
    EXPECT_THAT(message_of([&t = text] { static_cast<void>(parse_json_line(t, "run.stream:7")); }),
                StartsWith("collbench: run.stream:7: has " + path + " twice"));
  }
  EXPECT_EQ(message_of_text(R"([{"a": 1, "b": {"a": 2}}, {"a": 3}])"), "no error");
}

TEST(NumberRange, NoneHasWhatIsNoNumber) {
  for (const NumberRange& range : {kSeconds, kRate, kShare, kQuantity, kDifference}) {
    EXPECT_FALSE(range.contains(std::nan("")));
    EXPECT_FALSE(range.contains(std::numeric_limits<double>::infinity()));
    EXPECT_FALSE(range.contains(-std::numeric_limits<double>::infinity()));
    EXPECT_TRUE(range.contains(0));
    EXPECT_TRUE(range.contains(-0.0));
  }
}

class JsonReaderTest : public testing::Test {
 protected:
  JsonReader reader() { return {document_, "run.json"}; }
  nlohmann::json document_ = nlohmann::json::parse(
      R"({"rows": [{"seconds": 0.5, "count": 7}, {"seconds": "soon", "count": -1, "whole": 1.5}],
          "nothing": null, "yes": true, "name": "ring", "big": 18446744073709551615})");
};

TEST_F(JsonReaderTest, ReadsWhatIsThere) {
  EXPECT_EQ(reader().at("rows").items()[0].at("seconds").number(), 0.5);
  EXPECT_EQ(reader().at("rows").items()[0].at("count").integer<int>(), 7);
  EXPECT_EQ(reader().at("name").text(), "ring");
  EXPECT_TRUE(reader().at("yes").boolean());
  EXPECT_EQ(reader().at("big").integer<std::uint64_t>(), 18446744073709551615ULL);
  EXPECT_EQ(reader().members().size(), 5U);
}

TEST_F(JsonReaderTest, NullIsNoneOrNotANumber) {
  EXPECT_FALSE(reader().find("nothing"));
  EXPECT_FALSE(reader().find("absent"));
  EXPECT_TRUE(reader().find("name"));
  EXPECT_TRUE(std::isnan(reader().at("nothing").number()));
}

TEST_F(JsonReaderTest, ANumberOfARecordIsFiniteAndWithinItsRange) {
  document_ =
      nlohmann::json::parse(R"({"low": -1e-300, "high": 1e22, "text": "1", "none": null, "zero": 0})");
  for (const NumberRange& range : {kSeconds, kRate, kShare, kQuantity}) {
    EXPECT_EQ(reader().at("zero").number(range), 0);
    EXPECT_EQ(reader().at("none").optional_number(range), std::nullopt);
    for (const char* key : {"low", "high", "text", "none"}) {
      EXPECT_THAT(message_of([&] { static_cast<void>(reader().at(key).number(range)); }),
                  testing::AllOf(StartsWith(std::string("collbench: run.json: ") + key + " is "),
                                 HasSubstr(std::string("where ") + range.words + " was expected")))
          << key << range.words;
    }
  }
}

TEST_F(JsonReaderTest, AMissingKeyIsNamedWithItsPath) {
  EXPECT_THAT(message_of([&] { static_cast<void>(reader().at("rows").items()[1].at("size_bytes")); }),
              StartsWith("collbench: run.json: has no rows[1].size_bytes; "));
}

TEST_F(JsonReaderTest, AnotherKindIsNamedWithItsPathAndValue) {
  EXPECT_THAT(message_of([&] { static_cast<void>(reader().at("rows").items()[1].at("seconds").number()); }),
              StartsWith("collbench: run.json: rows[1].seconds is \"soon\" where a number was expected; "));
  EXPECT_THAT(message_of([&] { static_cast<void>(reader().at("name").items()); }), HasSubstr("an array was"));
  EXPECT_THAT(message_of([&] { static_cast<void>(reader().at("rows").members()); }),
              HasSubstr("rows is an array where an object was expected"));
  EXPECT_THAT(message_of([&] { static_cast<void>(reader().at("rows").at("x")); }),
              HasSubstr("an object was"));
  EXPECT_THAT(message_of([&] { static_cast<void>(reader().at("rows").text()); }), HasSubstr("a string was"));
  EXPECT_THAT(message_of([&] { static_cast<void>(reader().at("name").boolean()); }),
              HasSubstr("true or false"));
}

TEST_F(JsonReaderTest, AnIntegerMustFitItsTypeAndItsLeast) {
  const JsonReader row = reader().at("rows").items()[1];
  EXPECT_EQ(row.at("count").integer<int>(-1), -1);
  EXPECT_THAT(message_of([&] { static_cast<void>(row.at("count").integer<std::uint64_t>()); }),
              HasSubstr("rows[1].count is -1 where a whole number from 0 was expected"));
  EXPECT_THAT(message_of([&] { static_cast<void>(row.at("whole").integer<int>()); }), HasSubstr("is 1.5"));
  EXPECT_THAT(message_of([&] { static_cast<void>(reader().at("big").integer<int>()); }), HasSubstr("big is"));
}

TEST(ParseJson, WhatIsNestedTooDeepIsRefusedBeforeItIsRead) {
  const auto nested = [](int levels) {
    return std::string(static_cast<std::size_t>(levels), '[') +
           std::string(static_cast<std::size_t>(levels), ']');
  };
  EXPECT_NO_THROW(static_cast<void>(parse_json(nested(200), "run.json")));
  EXPECT_THAT(message_of([&] { static_cast<void>(parse_json("\n" + nested(201), "run.json")); }),
              StartsWith("collbench: run.json:2:201: is nested deeper than 200 levels; "));
  EXPECT_THAT(message_of([&] { static_cast<void>(parse_json_line(nested(100'000), "run.stream:7")); }),
              StartsWith("collbench: run.stream:7:201: is nested deeper than 200 levels; "));
  EXPECT_NO_THROW(static_cast<void>(parse_json("[\"" + std::string(300, '[') + "\\\"[\"]", "run.json")));
}

}  // namespace
}  // namespace collbench::json_reader_test
