#include "src/cli/toml_text.hpp"

#include <gtest/gtest.h>

namespace collbench::program::toml_text_test {
namespace {

TEST(TomlText, ACharacterBeyondAsciiIsFoundOutsideOfStringsAndComments) {
  EXPECT_EQ(line_of_stray_character("heads = é8"), 1U);
  EXPECT_EQ(line_of_stray_character("a = 1\n\nkv_heads = 8\u00A0\n"), 3U);
  EXPECT_EQ(line_of_stray_character("é = 1"), 1U);
  EXPECT_EQ(line_of_stray_character("a = \"x\" é"), 1U);
  EXPECT_EQ(line_of_stray_character("a = \xFF"), 1U);
  EXPECT_EQ(line_of_stray_character("a = '''x''''\nb = é"), 2U);
  EXPECT_EQ(line_of_stray_character("a = \"open\nb = é"), 2U);
}

TEST(TomlText, WhereTomlAllowsItIsNoneFound) {
  for (const char* text :
       {"", "a = 1", "# é\na = 1", "a = 1 # é", "a = \"é\"", "a = 'é\\'", "\"é\" = 1", "a = \"\\\"é\"",
        "a = \"\"\"\né \"é\" \n\"\"\"", "a = '''é\n'é''''", "\uFEFFa = 1", "a = \"é", "a = \"\\"}) {
    EXPECT_EQ(line_of_stray_character(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace collbench::program::toml_text_test
