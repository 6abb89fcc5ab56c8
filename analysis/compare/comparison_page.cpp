#include <string>
#include <vector>

#include "analysis/compare/comparison_report.hpp"
#include "analysis/report/html/page.hpp"

namespace collbench::analysis {
namespace {

std::string change_style(RowChange change) {
  switch (change) {
    case RowChange::slower:
      return "alarm";
    case RowChange::unclear:
    case RowChange::missing:
      return "warning";
    case RowChange::same:
    case RowChange::faster:
    case RowChange::added:
      return "";
  }
  return "";
}

ReportTable compared_rows(const Comparison& comparison) {
  constexpr std::size_t kChangeColumn = 1;
  ReportTable table{
      "Each row of both, times as geometric means over launches", comparison_headings(comparison), {}};
  for (const ComparedRow& row : comparison.rows) {
    const std::vector<std::string> cells = comparison_cells(row, comparison.paired.has_value());
    table.rows.emplace_back(cells.begin(), cells.end());
    table.rows.back()[kChangeColumn].style = change_style(row.change);
  }
  return table;
}

}  // namespace

std::string report_html(const Comparison& comparison) {
  std::vector<HtmlSection> sections{
      {"outcome", "Outcome", html_list(as_lines(comparison_notes(comparison)))}};
  std::string charts;
  for (const Chart& chart : comparison_charts(comparison)) charts += html_chart(chart);
  if (!charts.empty())
    sections.push_back({"charts", "Charts", "<div class=\"charts\">\n" + charts + "</div>\n"});
  sections.push_back({"rows", "Rows", html_table(compared_rows(comparison))});
  const std::vector<std::string> same{"nothing is known to differ beside the times"};
  sections.push_back({"differences", "What else differs",
                      html_list(as_lines(comparison.differences.empty() ? same : comparison.differences))});
  return html_page(comparison_title(comparison), {{comparison_summary(comparison)}}, sections);
}

}  // namespace collbench::analysis
