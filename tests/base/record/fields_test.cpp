#include "base/record/fields.hpp"

#include <gmock/gmock.h>

#include <array>
#include <string_view>

#include "base/error.hpp"

namespace collbench::fields_test {
namespace {

using testing::HasSubstr;

enum class Color { red, green };
constexpr std::array<std::string_view, 2> kColors{"red", "green"};

struct Leaf {
  int number = 0;
  std::optional<double> seconds{};

  bool operator==(const Leaf&) const = default;
};

void each_field(auto& visit, Either<Leaf> auto& leaf) {
  visit("number", leaf.number);
  visit("seconds", leaf.seconds, kSeconds);
}

struct Tree {
  std::string host;
  Color color = Color::red;
  double ratio = 0;
  double ratio_or_zero = 0;
  std::vector<Leaf> leaves;
  std::vector<Leaf> columns;
  std::map<std::string, std::vector<int>> by_name;
  int later = 7;
  std::string given{};

  bool operator==(const Tree&) const = default;
};

void each_field(auto& visit, Either<Tree> auto& tree) {
  visit("host", tree.host, RankHost{});
  visit("color", tree.color, WordOf{kColors});
  visit("ratio", tree.ratio, NumberOrNull{kQuantity});
  visit("ratio_or_zero", tree.ratio_or_zero, NumberOrNull{kQuantity, 0});
  visit("leaves", tree.leaves);
  visit("columns", tree.columns, Columns{"columns of one length"});
  visit("by_name", tree.by_name);
  visit.older("later", tree.later);
  visit.where_given("given", tree.given);
}

const Tree kTree{.host = "n1",
                 .color = Color::green,
                 .ratio = 1.5,
                 .leaves = {{1, 2.5}, {2, {}}},
                 .columns = {{3, {}}, {4, 0.5}},
                 .by_name = {{"a", {1, 2}}}};

constexpr const char* kText =
    R"({"host":"n1","color":"green","ratio":1.5,"ratio_or_zero":null,)"
    R"("leaves":[{"number":1,"seconds":2.5},{"number":2,"seconds":null}],)"
    R"("columns":{"number":[3,4],"seconds":[null,0.5]},"by_name":{"a":[1,2]},"later":7})";

Tree read(const nlohmann::json& json) { return record_from_json<Tree>(JsonReader(json, "file")); }

std::string refusal(const char* pointer, const nlohmann::json& value) {
  nlohmann::json json = nlohmann::json::parse(kText);
  json[nlohmann::json::json_pointer(pointer)] = value;
  try {
    (void)read(json);
  } catch (const Error& error) {
    return describe(error);
  }
  return "read";
}

TEST(Fields, StandInTheirOrderAndReadBack) {
  EXPECT_EQ(record_to_json(kTree).dump(), kText);
  EXPECT_EQ(read(nlohmann::json::parse(kText)), kTree);
}

TEST(Fields, WhatOlderRecordsLackKeepsItsValue) {
  nlohmann::json json = nlohmann::json::parse(kText);
  json.erase("later");
  EXPECT_EQ(read(json), kTree);
  json.erase("ratio");
  EXPECT_THROW((void)read(json), Error);
}

TEST(Fields, WhatIsLeftOutStandsWhereItIsGiven) {
  Tree tree = kTree;
  tree.given = "word";
  EXPECT_EQ(record_to_json(tree)["given"], "word");
  EXPECT_EQ(read(nlohmann::json::parse(record_to_json(tree).dump())), tree);
}

TEST(Fields, ADamagedOneIsNamedByItsPath) {
  EXPECT_THAT(refusal("/color", "blue"), HasSubstr("color is \"blue\" where \"red\" or \"green\""));
  EXPECT_THAT(refusal("/leaves/1/number", "x"), HasSubstr("leaves[1].number"));
  EXPECT_THAT(refusal("/leaves/0/seconds", -1), HasSubstr("leaves[0].seconds"));
  EXPECT_THAT(refusal("/columns/seconds/1", "x"), HasSubstr("columns.seconds[1]"));
  EXPECT_THAT(refusal("/columns/seconds", nlohmann::json::array()), HasSubstr("columns of one length"));
  EXPECT_THAT(refusal("/by_name/a/0", "x"), HasSubstr("by_name.a[0]"));
  EXPECT_THAT(refusal("/host", "two words"), HasSubstr("host"));
}

}  // namespace
}  // namespace collbench::fields_test
