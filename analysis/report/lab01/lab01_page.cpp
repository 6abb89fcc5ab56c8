#include <string>
#include <vector>

#include "analysis/charts/run_charts.hpp"
#include "analysis/report/html/page.hpp"
#include "analysis/report/lab01/lab01.hpp"
#include "base/text_sinks.hpp"

namespace collbench::analysis {
namespace {

std::string block_markup(const std::string& paragraph) { return html_paragraph(paragraph); }
std::string block_markup(const ReportList& items) { return html_list(as_lines(items)); }
std::string block_markup(const ReportTable& table) { return html_table(table); }

/// Tables are named after the heading that they stand under, and numbered where there are several.
std::string body_markup(ReportSection section) {
  std::string body;
  int tables = 0;
  for (auto& block : section.blocks) {
    // Not the heading alone: a region in another one of the same name cannot be told from it.
    if (auto* const table = std::get_if<ReportTable>(&block))
      table->caption = section.heading + ", table" + (++tables < 2 ? "" : " " + std::to_string(tables));
    body += std::visit([](const auto& each) { return block_markup(each); }, block);
  }
  return body;
}

std::string charts_markup(const Run& run) {
  std::string charts;
  for (const OperationCharts& each : run_charts(run)) {
    if (each.operation != OperationId::all_reduce) continue;
    for (const Chart& chart : each.charts) charts += html_chart(chart);
  }
  return charts.empty() ? charts : "<div class=\"charts\">\n" + charts + "</div>\n";
}

}  // namespace

std::string lab01_page(const Document& document, const Run& run) {
  std::vector<HtmlSection> sections;
  for (const ReportSection& section : document.sections) {
    const bool has_charts = section.heading.starts_with("AllReduce");
    sections.push_back({"part-" + std::to_string(sections.size() + 1), section.heading,
                        (has_charts ? charts_markup(run) : "") + body_markup(section)});
  }
  return page_text(html_page(document.title, {}, sections));
}

}  // namespace collbench::analysis
