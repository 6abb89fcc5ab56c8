#include "src/cli/toml_text.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <string_view>

namespace collbench::program::toml_text_test {
namespace {

/// The line of the flaw; 0: none.
std::size_t flawed_line(std::string_view text) {
  const auto flaw = toml_flaw(text);
  return flaw ? flaw->line : 0;
}

TEST(TomlText, ACharacterBeyondAsciiIsFoundOutsideOfStringsAndComments) {
  EXPECT_EQ(flawed_line("heads = é8"), 1U);
  EXPECT_EQ(flawed_line("a = 1\n\nkv_heads = 8\u00A0\n"), 3U);
  EXPECT_EQ(flawed_line("é = 1"), 1U);
  EXPECT_EQ(flawed_line("a = \"x\" é"), 1U);
  EXPECT_EQ(flawed_line("a = \xFF"), 1U);
  EXPECT_EQ(flawed_line("a = '''x''''\nb = é"), 2U);
  EXPECT_EQ(flawed_line("a = \"open\nb = é"), 2U);
}

TEST(TomlText, WhereTomlAllowsItIsNoneFound) {
  for (const char* text :
       {"", "a = 1", "# é\na = 1", "a = 1 # é", "a = \"é\"", "a = 'é\\'", "\"é\" = 1", "a = \"\\\"é\"",
        "a = \"\"\"\né \"é\" \n\"\"\"", "a = '''é\n'é''''",
        "\xEF\xBB\xBF"
        "a = 1",
        "a = \"é", "a = \"\\", "[a]", " [ [a.b]", "[[ 'é' ]]", "[-]", "[]", "a = [\n[1],\n[\"é\"]]"}) {
    EXPECT_EQ(toml_flaw(text), std::nullopt) << text;
  }
}

TEST(TomlText, ABracketAtTheStartOfALineWithoutANameIsFound) {
  for (const char* header : {"[\020a]", "[", "[[", "[ ", "[=]", "[.a]", "\t[ \177]", "[\n]", "[[\r"}) {
    EXPECT_EQ(flawed_line(header), 1U) << header;
    EXPECT_EQ(flawed_line("a = \"\"\"\n\"\"\" # [\nb = [1]\r\n" + std::string(header)), 4U) << header;
  }
}

}  // namespace
}  // namespace collbench::program::toml_text_test
