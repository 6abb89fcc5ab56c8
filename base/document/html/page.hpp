#pragma once
#include <string>

#include "base/document/chart.hpp"
#include "base/document/document.hpp"

// What a page of HTML is made of: pure functions from data to markup. All text may come from anywhere: each
// function passes it through xml_text (base/text_sinks.hpp), so none of it is markup. The page needs nothing
// but itself: styles, scripts and pictures stand in it, and its Content-Security-Policy allows no others.

namespace collbench {

/// The blocks of a section as markup. A table without a caption is named after the heading, and numbered
/// where there are several.
[[nodiscard]] std::string html_body(const ReportSection& section);

/// The whole page, but for sections of which nothing is to be shown.
[[nodiscard]] std::string html_page(const Document& document);

/// A chart for page.js, with every number also as people read it, so that the script formats none. Both
/// scales of y are there, the chart's own first.
[[nodiscard]] std::string chart_json(const Chart& chart);

}  // namespace collbench
