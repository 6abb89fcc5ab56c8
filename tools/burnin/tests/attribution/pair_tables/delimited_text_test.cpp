#include "tools/burnin/attribution/pair_tables/delimited_text.hpp"

#include <gmock/gmock.h>

namespace collbench {
namespace {

using ::testing::ElementsAre;

TEST(DelimitedText, TheHeadingSaysWhatSeparates) {
  EXPECT_EQ(cell_separator("a\tb,c"), '\t');
  EXPECT_EQ(cell_separator("| a, b | c |"), '|');
  EXPECT_EQ(cell_separator("a;b,c"), ',');
  EXPECT_EQ(cell_separator("a;b"), ';');
  EXPECT_EQ(cell_separator("a b"), ' ');
}

TEST(DelimitedText, CellsAreTrimmedAndEmptyOnesKept) {
  EXPECT_THAT(delimited_cells("a, b ,,c", ','), ElementsAre("a", "b", "", "c"));
  EXPECT_THAT(delimited_cells("  a   b\tc", ' '), ElementsAre("a", "b", "c"));
  EXPECT_THAT(delimited_cells("| a | | c |", '|'), ElementsAre("a", "", "c"));
}

TEST(DelimitedText, QuotesHoldSeparatorsAndQuotes) {
  EXPECT_THAT(delimited_cells(R"("a,b","say ""no""",c)", ','), ElementsAre("a,b", "say \"no\"", "c"));
  EXPECT_THAT(delimited_cells(R"(a,"not closed,b)", ','), ElementsAre("a", "not closed,b"));
}

TEST(DelimitedText, TheRuleOfAMarkdownTable) {
  EXPECT_TRUE(is_markdown_rule({"---", ":--:", "--:"}));
  EXPECT_FALSE(is_markdown_rule({"---", "48"}));
  EXPECT_FALSE(is_markdown_rule({"-", "-"}));  // cells of what was not measured
  EXPECT_FALSE(is_markdown_rule({}));
}

}  // namespace
}  // namespace collbench
