#include <gmock/gmock.h>

#include <string>

#include "analysis/report/lab01/lab01.hpp"
#include "base/text_sinks.hpp"

namespace collbench::analysis::lab01_page_test {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(Lab01Page, HasEveryPartOfTheDocument) {
  const std::string page = lab01_page(
      "# Lab 01: AllReduce\n\nTwo nodes.\n\n## Hardware\n- a\\_b\n- **not known**\n\n## Checks\n"
      "| question | answer |\n| --- | ---: |\n| up? | **no \\| never** |\n| **sum** | 7 "
      "|\n\nOne\nparagraph.\n",
      {});
  EXPECT_THAT(page, HasSubstr("Lab 01: AllReduce</h1>"));
  EXPECT_THAT(page, HasSubstr("Two nodes."));
  EXPECT_THAT(page, HasSubstr("Hardware</h2>"));
  EXPECT_THAT(page, HasSubstr("a_b"));
  EXPECT_THAT(page, HasSubstr("no | never"));
  EXPECT_THAT(page, HasSubstr("<p>One paragraph.</p>"));
  EXPECT_THAT(page, Not(HasSubstr("**")));
}

TEST(Lab01Page, NothingInItIsMarkup) {
  const std::string evil = "<script>alert(1)</script> | `x` ** & [a](b)";
  const std::string page = lab01_page("# " + markdown_text(evil) + "\n\n## H " + markdown_text(evil) +
                                          "\n- " + markdown_text(evil) + "\n\n| a |\n| --- |\n| " +
                                          markdown_text(evil) + " |\n\n" + markdown_text(evil) + "\n",
                                      {});
  EXPECT_THAT(page, Not(HasSubstr("<script>alert")));
  std::size_t times = 0;
  const std::string shown = xml_text(evil);
  for (std::size_t at = page.find(shown); at != std::string::npos; at = page.find(shown, at + 1)) ++times;
  EXPECT_GE(times, 5U);  // title, heading, list, cell, paragraph: each whole, and as it was
}

}  // namespace
}  // namespace collbench::analysis::lab01_page_test
