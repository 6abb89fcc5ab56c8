#include "base/document/text_layout.hpp"

#include <gtest/gtest.h>

namespace collbench::text_layout_test {
namespace {

TEST(DisplayWidth, CountsLettersAndNotBytes) {
  EXPECT_EQ(display_width(""), 0);
  EXPECT_EQ(display_width("time"), 4);
  EXPECT_EQ(display_width("±95 %"), 5);
  EXPECT_EQ(display_width("µ–…"), 3);
}

TEST(Pad, FillsUpToTheWidthInColumns) {
  EXPECT_EQ(pad_left("µs", 4), "  µs");
  EXPECT_EQ(pad_right("µs", 4), "µs  ");
  EXPECT_EQ(pad_left("longer", 4), "longer");
}

TEST(Shorten, EndsInAnEllipsisWhereItDoesNotFit) {
  EXPECT_EQ(shorten("ring", 4), "ring");
  EXPECT_EQ(shorten("rings", 4), "rin…");
  EXPECT_EQ(shorten("µµµµµ", 4), "µµµ…");
  EXPECT_EQ(shorten("ring", 1), "…");
  EXPECT_EQ(shorten("ring", 0), "");
}

TEST(Wrap, BreaksBetweenWords) {
  EXPECT_EQ(wrap("one two three", 9, "# ", "#   "), "# one two\n#   three\n");
  EXPECT_EQ(wrap("one two three", 80, "# ", "#   "), "# one two three\n");
  EXPECT_EQ(wrap("one  two\nthree", 80, "# ", "#   "), "# one two three\n");
}

TEST(Wrap, BreaksAWordThatIsLongerThanALine) {
  EXPECT_EQ(wrap("a 123456789 b", 6, "# ", "# "), "# a\n# 1234\n# 5678\n# 9 b\n");
  EXPECT_EQ(wrap("µµµµ", 4, "# ", "# "), "# µµ\n# µµ\n");
}

TEST(Wrap, EndsEvenWhereNothingFits) { EXPECT_EQ(wrap("ab", 0, "# ", "# "), "# a\n# b\n"); }

TEST(Wrap, AnEmptyTextIsItsPrefix) { EXPECT_EQ(wrap("", 80, "# ", "#   "), "# \n"); }

TEST(TableLines, NamesStandLeftAndNumbersRightWithoutBlanksAtTheEnd) {
  EXPECT_EQ(table_lines({{"graph", "GB/s", ""}, {"ring", "48"}, {"nvls_tree", "7.5", ""}}, 1),
            "  graph      GB/s\n"
            "  ring         48\n"
            "  nvls_tree   7.5\n");
}

}  // namespace

}  // namespace collbench::text_layout_test
