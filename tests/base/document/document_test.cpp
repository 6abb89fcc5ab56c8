#include "base/document/document.hpp"

#include <gtest/gtest.h>

namespace collbench::document_test {
namespace {

TEST(Document, AsMarkdownNothingInItIsMarkup) {
  const ReportTable table{.headings = {"a", "b", "c", "d"},
                          .rows = {{"x|y", "w", "1", {"*", "alarm"}}, {"", "w", "2", "end"}},
                          .left = 2,
                          .right = 1};
  const Document document{"A `title`", {{"One", {"A [b](c).", ReportList{"- 1", "2"}, table}}, {"Two", {}}}};
  EXPECT_EQ(markdown(document),
            "# A \\`title\\`\n\n## One\nA \\[b\\](c).\n\n- \\- 1\n- 2\n\n"
            "| a | b | c | d |\n| --- | --- | ---: | --- |\n| x\\|y | w | 1 | **\\*** |\n|  | w | 2 | end |\n"
            "\n## Two\n");
}

// What each writer makes of one document: the answer first, no block left out but for pictures.
Document with_everything() {
  return {
      "Title",
      {{"Facts", {"A paragraph.", ReportLines{{"bad", Tone::alarm}}, ReportCode{{"run  \"it\"", "again"}}}},
       {"Charts", {std::vector<Chart>{}}},
       {"", {ReportTable{.headings = {"a", "b"}, .rows = {{"x", "1"}}}}}},
      {{"about it"}},
      {"The answer"}};
}

TEST(DocumentText, TheAnswerIsTheFirstLineAndSectionsWithoutTextAreLeftOut) {
  EXPECT_EQ(
      text(with_everything(), {.columns = 80, .mark = "# "}),
      "# The answer\n# about it\n\n# Facts\n# A paragraph.\n# bad\n\nrun  \"it\"\nagain\n\n  a  b\n  x  1\n");
  Document without = with_everything();
  without.headline = {};
  EXPECT_TRUE(text(without, {}).starts_with("Title\nabout it\n\nFacts\n  A paragraph.\n  bad\n"));
}

TEST(DocumentText, OtherFormatsSayTheSame) {
  EXPECT_EQ(markdown(with_everything()),
            "# Title\n\n**The answer**\n\n- about it\n\n## Facts\nA paragraph.\n\n- **bad**\n\n"
            "```\nrun  \"it\"\nagain\n```\n\n| a | b |\n| --- | ---: |\n| x | 1 |\n");
  const std::string page = html_page(with_everything());
  EXPECT_NE(page.find("<li>The answer</li>\n<li>about it</li>"), std::string::npos);
  EXPECT_NE(page.find("<pre>run  &quot;it&quot;\nagain\n</pre>"), std::string::npos);
}

/// A row of words, two numbers and words.
std::string table_text(int columns, bool wraps = false) {
  const ReportTable table{
      .headings = {"name", "first", "second", "why"},
      .rows = {{"a name of thirty-eight letters, no more", "1", "2", "a reason of some words"}},
      .right = 1,
      .spare = {"second", "first"},
      .wraps = wraps};
  return text(Document{"t", {{"", {table}}}}, {.columns = columns}).substr(3);
}

TEST(DocumentText, ATableFitsItsLine) {
  EXPECT_EQ(table_text(90),
            "  name                                     first  second  why\n"
            "  a name of thirty-eight letters, no more      1       2  a reason of some words\n");
  EXPECT_EQ(table_text(78),
            "  name                                     first  second  why\n"
            "  a name of thirty-eight letters, no more      1       2  a reason of some wo…\n");
  EXPECT_EQ(table_text(76),
            "  name                                     first  why\n"
            "  a name of thirty-eight letters, no more      1  a reason of some words\n");
  EXPECT_EQ(table_text(68),
            "  name                                     why\n"
            "  a name of thirty-eight letters, no more  a reason of some words\n");
  EXPECT_EQ(table_text(50),
            "  name                                    why\n"
            "  a name of thirty-eight letters, no mo…  a reaso…\n");
  EXPECT_EQ(table_text(30), "  name                why\n  a name of thirty-…  a reaso…\n");
  EXPECT_EQ(table_text(54, true),
            "  name                                     why\n"
            "  a name of thirty-eight letters, no more  a reason of\n"
            "                                           some words\n");
}

std::string broken_text(const std::string& name, int columns) {
  ReportTable table{.headings = {"node"}, .rows = {{name}, {"n1"}}, .breaks = true};
  for (int i = 0; i < 5; ++i) {
    table.headings.push_back(std::to_string(100 + i));
    for (auto& row : table.rows) row.emplace_back("1.00");
  }
  return text(Document{"t", {{"", {table}}}}, {.columns = columns}).substr(3);
}

TEST(DocumentText, ColumnsOfATableThatBreaksGoOnBelow) {
  EXPECT_EQ(broken_text("n0", 26),
            "  node   100   101   102\n  n0    1.00  1.00  1.00\n  n1    1.00  1.00  1.00\n"
            "\n  node   103   104\n  n0    1.00  1.00\n  n1    1.00  1.00\n");
  const std::string cut = broken_text("a-node-with-a-name-of-forty-five-letters.lab", 40);
  EXPECT_TRUE(
      cut.starts_with("  node                   100   101   102\n"
                      "  a-node-with-a-name-…  1.00  1.00  1.00\n"))
      << cut;
}

TEST(DocumentText, TablesWithoutRowsAreInNoFormatAndOneColumnIsOne) {
  const Document empty{"t", {{"Rows", {ReportTable{.headings = {"a"}}, ReportFindings{}}}}, {}, {"answer"}};
  EXPECT_EQ(text(empty, {}), "answer\n");
  EXPECT_EQ(markdown(empty), "# t\n\n**answer**\n");
  EXPECT_EQ(html_page(empty).find("<table"), std::string::npos);
  EXPECT_EQ(html_page(empty).find("<nav"), std::string::npos);
  const ReportTable one{.headings = {"a"}, .rows = {{"a cell of more than ten letters"}}, .breaks = true};
  EXPECT_EQ(text(Document{"t", {{"", {one}}}}, {.columns = 12}), "t\n\n  a\n  a cell of…\n");
}

TEST(DocumentText, ASectionWithoutBlocksIsItsHeading) {
  const Document document{"t", {{"n1 against n2: no difference", {}}}, {}, {"answer"}};
  EXPECT_EQ(text(document, {}), "answer\n\nn1 against n2: no difference\n");
  EXPECT_EQ(markdown(document), "# t\n\n**answer**\n\n## n1 against n2: no difference\n");
  EXPECT_NE(html_page(document).find(">n1 against n2: no difference</h2>"), std::string::npos);
}

TEST(DocumentText, NumbersAtTheEndOfALineAreNeverBroken) {
  const ReportTable table{
      .headings = {"name", "first", "last"}, .rows = {{"a b", "1234567890", "2"}}, .spare = {"last"}};
  EXPECT_EQ(text(Document{"t", {{"", {table}}}}, {.columns = 14}),
            "t\n\n  name       first\n  a b   1234567890\n");
}

TEST(DocumentText, NothingInCodeEndsItsFence) {
  EXPECT_EQ(markdown(Document{"t", {{"", {ReportCode{{"a\n```\nb"}}}}}}), "# t\n\n````\na ``` b\n````\n");
}

TEST(DocumentText, FindingsAreAListInTextAndATableElsewhere) {
  const Document document{
      "t",
      {{"",
        {ReportFindings{{"broken", Tone::alarm, "nic-down", "n1", {{"", "NIC 3"}, {"fix", "cable"}}},
                        {"slow", Tone::warning, "acs", "", {{"seen", "a"}, {"seen", "b"}}}}}}},
      {},
      {"2 findings"}};
  EXPECT_EQ(text(document, {.columns = 80}),
            "2 findings\n\nbroken    nic-down  n1\n          NIC 3\n          fix: cable\n"
            "\nslow      acs\n          seen: a\n          seen: b\n");
  EXPECT_NE(markdown(document).find("| severity | finding | where | what | fix | seen |\n"),
            std::string::npos);
  EXPECT_NE(markdown(document).find("| **slow** | acs |  |  |  | a; b |\n"), std::string::npos)
      << markdown(document);
  EXPECT_NE(html_page(document).find("<th scope=\"row\" class=\"alarm\">broken</th><td>nic-down</td>"),
            std::string::npos);
  EXPECT_EQ(html_page(document).find("<h2"), std::string::npos) << "a section without a heading";
}

}  // namespace
}  // namespace collbench::document_test
