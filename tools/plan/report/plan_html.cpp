#include <fmt/format.h>

#include "analysis/report/html/page.hpp"
#include "base/error.hpp"
#include "tools/plan/report/plan_report.hpp"
#include "tools/plan/report/plan_timeline.hpp"

namespace collbench::analysis {
namespace {

HtmlSection table_section(const PlanTable& table, std::size_t number) {
  HtmlTable html{
      .caption = table.heading.empty() ? "Plans" : table.heading, .headings = table.columns, .rows = {}};
  html.is_text = table.text_columns > 1;
  for (const auto& row : table.rows) {
    std::vector<HtmlCell> cells;
    for (const std::string& cell : row) cells.push_back({cell});
    html.rows.push_back(std::move(cells));
  }
  return {fmt::format("table-{}", number), html.caption, html_table(html)};
}

HtmlSection timeline_section(const TrainingPlan& plan) {
  std::string body;
  try {
    body = html_picture(timeline_svg(plan), "One step, stage by stage",
                        "The passes of each pipeline stage over the time of a step");
  } catch (const Error& error) {
    body = html_paragraph(fmt::format("No picture: {}.", error.what()));
  }
  return {"timeline", "Timeline", body};
}

}  // namespace

std::string plan_html(const PlanReport& report) {
  const PlanPage page = plan_page(report);
  ReportLines lead;
  for (const std::string& fact : page.facts) lead.push_back({fact});
  std::vector<HtmlSection> sections;
  for (const PlanTable& table : page.tables) sections.push_back(table_section(table, sections.size() + 1));
  for (const Chart& chart : report.charts) sections.push_back({chart.id, chart.title, html_chart(chart)});
  if (report.title.empty() && report.rows.size() == 1 && report.rows.front().plan)
    sections.push_back(timeline_section(*report.rows.front().plan));
  ReportLines notes;
  for (const std::string& note : page.notes) notes.push_back({note});
  if (!notes.empty()) sections.push_back({"notes", "Notes", html_list(notes)});
  return html_page("Training plan", lead, sections);
}

}  // namespace collbench::analysis
