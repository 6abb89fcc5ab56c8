#include "base/document/document.hpp"

#include <gmock/gmock.h>

#include "base/document/html/assets.hpp"

namespace collbench::page_test {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr const char* kHostile = "</script><img src=x onerror=alert(1)>\"'&\xE2\x80\xA8\x1b[31m";

TEST(HtmlPage, NoTextBecomesMarkup) {
  const Chart chart{.id = "c",
                    .title = kHostile,
                    .x = {kHostile, AxisUnit::bytes, true},
                    .y = {kHostile, AxisUnit::ratio, false},
                    .series = {{kHostile, SeriesKind::measured, {{8, 1, {}, {}, kHostile}}}},
                    .bands = {{kHostile, {{8, 1, 2}}}},
                    .references = {{kHostile, 1}}};
  const std::string page =
      html_page({kHostile,
                 {{kHostile,
                   {kHostile, ReportList{kHostile}, ReportLines{{kHostile, Tone::alarm}},
                    ReportTable{kHostile, {kHostile}, {{{kHostile}}}}, std::vector{chart},
                    ReportPicture{"<svg>\"></svg>", kHostile, kHostile}},
                   "s"}},
                 {{kHostile}}});
  EXPECT_THAT(page, Not(HasSubstr("<img src=x")));
  EXPECT_THAT(page, Not(HasSubstr("\xE2\x80\xA8")));
  EXPECT_THAT(page, Not(HasSubstr("\x1b")));
  EXPECT_THAT(page, HasSubstr("&lt;/script&gt;&lt;img src=x onerror=alert(1)&gt;&quot;&#39;&amp;"));
}

TEST(HtmlPage, ThePolicyAllowsWhatStandsInThePageAndNothingElse) {
  const std::string page = html_page({"t", {}});
  EXPECT_THAT(page, HasSubstr("default-src 'none'; img-src data:; style-src 'sha256-" +
                              std::string(page_style().sha256) + "'"));
  EXPECT_THAT(page, HasSubstr("<style>" + std::string(page_style().text) + "</style>"));
  for (const char* const fetched : {" src=\"http", "url(", "@import", "href=\"http"})
    EXPECT_THAT(page_style().text, Not(HasSubstr(fetched)));
  if (chart_library().text.empty()) {
    EXPECT_THAT(page, HasSubstr("script-src 'none'"));
  } else {
    EXPECT_THAT(page, HasSubstr("script-src 'sha256-" + std::string(chart_library().sha256) + "' 'sha256-" +
                                std::string(page_script().sha256) + "'"));
  }
}

TEST(HtmlPage, WhatIsLoudIsMarked) {
  EXPECT_EQ(
      html_body({"", {ReportLines{{"a", Tone::quiet}, {"b", Tone::warning}, {"c", Tone::alarm}}}}),
      "<ul class=\"facts\">\n<li>a</li>\n<li class=\"warning\">b</li>\n<li class=\"alarm\">c</li>\n</ul>\n");
  EXPECT_EQ(html_body({"", {ReportLines{}}}), "");
}

TEST(HtmlPage, ATableNamesItsRowsAndColumns) {
  EXPECT_EQ(
      html_body({"", {ReportTable{"a table", {"size", "time"}, {{{"8"}, {"1.0", "warning"}}}}}}),
      "<div class=\"scroll\" role=\"region\" aria-label=\"a table\" tabindex=\"0\"><table>\n"
      "<caption>a table</caption>\n<thead><tr><th scope=\"col\">size</th><th scope=\"col\">time</th></tr>"
      "</thead>\n<tbody>\n<tr><th scope=\"row\">8</th><td class=\"warning\">1.0</td></tr>\n</tbody></table>"
      "</div>\n");
}

}  // namespace
}  // namespace collbench::page_test
