#include <gmock/gmock.h>

#include <string>

#include "base/text_sinks.hpp"
#include "tools/lab01/report/lab01.hpp"

namespace collbench::analysis::lab01_page_test {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(Lab01Page, HasEveryPartOfTheDocument) {
  const ReportTable table{.headings = {"question", "answer"},
                          .rows = {{"up?", {"no | never", "warning"}}, {{"sum", "warning"}, "7"}}};
  const Document document{"Lab 01: AllReduce",
                          {{"Hardware", {ReportList{"a_b"}}}, {"Checks", {table, "One paragraph.", table}}}};
  const std::string page = lab01_page(document, {});
  EXPECT_THAT(page, HasSubstr("Lab 01: AllReduce</h1>"));
  EXPECT_THAT(page, HasSubstr("Hardware</h2>"));
  EXPECT_THAT(page, HasSubstr("<li>a_b</li>"));
  EXPECT_THAT(page, HasSubstr("<th scope=\"row\">up?</th><td class=\"warning\">no | never</td>"));
  EXPECT_THAT(page, HasSubstr("<p>One paragraph.</p>"));
  EXPECT_THAT(page, HasSubstr("<caption>Checks, table</caption>"));
  EXPECT_THAT(page, HasSubstr("<caption>Checks, table 2</caption>"));
}

TEST(Lab01Page, NothingInItIsMarkup) {
  const std::string evil = "<script>alert(1)</script> | `x` ** & [a](b)";
  const ReportTable table{.headings = {"a"}, .rows = {{evil}}};
  const std::string page = lab01_page({evil, {{"H " + evil, {ReportList{evil}, table, evil}}}}, {});
  EXPECT_THAT(page, Not(HasSubstr("<script>alert")));
  std::size_t times = 0;
  const std::string shown = xml_text(evil);
  for (std::size_t at = page.find(shown); at != std::string::npos; at = page.find(shown, at + 1)) ++times;
  EXPECT_GE(times, 5U);  // title, heading, list, cell, paragraph: each whole, and as it was
}

}  // namespace
}  // namespace collbench::analysis::lab01_page_test
