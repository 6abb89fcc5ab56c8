#pragma once
#include <string>
#include <vector>

#include "analysis/charts/chart.hpp"
#include "analysis/report/diff_report.hpp"
#include "analysis/report/document.hpp"
#include "base/record/run.hpp"
#include "topology/render/render.hpp"

// What a page of HTML is made of: pure functions from data to markup. All text may come from anywhere: each
// function passes it through xml_text (base/text_sinks.hpp), so none of it is markup. The page needs nothing
// but itself: styles, scripts and pictures stand in it, and its Content-Security-Policy allows no others.

namespace collbench::analysis {

/// The blocks of a section as markup. A table without a caption is named after the heading, and numbered
/// where there are several.
[[nodiscard]] std::string html_body(const ReportSection& section);

/// The whole page, but for sections of which nothing is to be shown.
[[nodiscard]] std::string html_page(const Document& document);

/// A chart for page.js, with every number also as people read it, so that the script formats none. Both
/// scales of y are there, the chart's own first.
[[nodiscard]] std::string chart_json(const Chart& chart);

/// Ranks that one map shows at most: those whose times differ most from the others'.
inline constexpr std::size_t kMaxMapRanks = 48;

/// Who was late, as markup: a table of ranks by sizes for each series of rows, each cell the rank's own time
/// inside the call over that of the median rank, colored; and what the probes of the ranks say. No table of
/// operations with a root, whose ranks have parts of different length: a short call says nothing there. Empty
/// without times of two ranks.
[[nodiscard]] std::vector<ReportBlock> rank_map(const Run& run);

/// What a drawing of the worse machine points at: each finding with the loss of the best algorithm.
[[nodiscard]] std::vector<topology::DrawingMark> drawing_marks(const std::vector<PricedFinding>& findings);

/// The machine as a picture of Graphviz (topology/render/), as markup; without Graphviz, or where it fails, a
/// sentence that says so.
[[nodiscard]] ReportBlock machine_drawing(const topology::Host& host, const std::string& name,
                                          const std::vector<topology::DrawingMark>& marks);

}  // namespace collbench::analysis
