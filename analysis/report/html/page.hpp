#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "analysis/charts/chart.hpp"
#include "analysis/report/sections.hpp"

// What a page of HTML is made of: pure functions from data to markup. All text may come from anywhere: each
// function passes it through xml_text (base/text_sinks.hpp), so none of it is markup. The page needs nothing
// but itself: styles, scripts and pictures stand in it, and its Content-Security-Policy allows no others.

namespace collbench::analysis {

struct HtmlCell {
  std::string text;
  std::string style{};  ///< a class of page.css; empty: none
};

struct HtmlTable {
  std::string caption;
  std::vector<std::string> headings;        ///< the first column names its row
  std::vector<std::vector<HtmlCell>> rows;  ///< as many cells as headings
  bool is_text = false;                     ///< cells are words, not numbers
};

/// A section of markup under its heading.
struct HtmlSection {
  std::string id;       ///< of letters, digits and hyphens
  std::string heading;  ///< text
  std::string body;     ///< markup
};

/// The class of page.css that shows a tone; empty where nothing is to be noticed.
[[nodiscard]] std::string_view tone_class(Tone tone);

[[nodiscard]] std::string html_paragraph(const std::string& text);

/// A list; what is a warning or an alarm is marked, also for who does not see colors. Empty for no lines.
[[nodiscard]] std::string html_list(const ReportLines& lines);

[[nodiscard]] std::string html_table(const HtmlTable& table);

/// A chart: a picture (SVG), which the page's script replaces by one that can be pointed at and walked
/// through by keyboard, and its numbers as a table.
[[nodiscard]] std::string html_chart(const Chart& chart);

/// An SVG document as an image: nothing in it runs. `description` is for who does not see it.
[[nodiscard]] std::string html_picture(const std::string& svg, const std::string& caption,
                                       const std::string& description);

/// The whole page. `lead`: lines below the title.
[[nodiscard]] std::string html_page(const std::string& title, const ReportLines& lead,
                                    const std::vector<HtmlSection>& sections);

}  // namespace collbench::analysis
