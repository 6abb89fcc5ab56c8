#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "analysis/charts/chart.hpp"
#include "analysis/report/document.hpp"

// What a page of HTML is made of: pure functions from data to markup. All text may come from anywhere: each
// function passes it through xml_text (base/text_sinks.hpp), so none of it is markup. The page needs nothing
// but itself: styles, scripts and pictures stand in it, and its Content-Security-Policy allows no others.

namespace collbench::analysis {

/// A section of markup under its heading.
struct HtmlSection {
  std::string id;       ///< of letters, digits and hyphens
  std::string heading;  ///< text
  std::string body;     ///< markup
};

[[nodiscard]] std::string html_paragraph(const std::string& text);

/// A list; what is a warning or an alarm is marked, also for who does not see colors. Empty for no lines.
[[nodiscard]] std::string html_list(const ReportLines& lines);

[[nodiscard]] std::string html_table(const ReportTable& table);

/// A chart: a picture (SVG), which the page's script replaces by one that can be pointed at and walked
/// through by keyboard, and its numbers as a table.
[[nodiscard]] std::string html_chart(const Chart& chart);

/// An SVG document as an image: nothing in it runs. `description` is for who does not see it.
[[nodiscard]] std::string html_picture(const std::string& svg, const std::string& caption,
                                       const std::string& description);

/// The whole page. `lead`: lines below the title.
[[nodiscard]] std::string html_page(const std::string& title, const ReportLines& lead,
                                    const std::vector<HtmlSection>& sections);

/// A chart for page.js, with every number also as people read it, so that the script formats none. Both
/// scales of y are there, the chart's own first.
[[nodiscard]] std::string chart_json(const Chart& chart);

}  // namespace collbench::analysis
