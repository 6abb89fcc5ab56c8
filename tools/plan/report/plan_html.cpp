#include <fmt/format.h>

#include "analysis/report/html/page.hpp"
#include "base/error.hpp"
#include "tools/plan/report/plan_report.hpp"

namespace collbench::analysis {
namespace {

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
  std::vector<HtmlSection> sections;
  for (const PlanTable& each : page.tables) {
    const ReportTable table = table_of_page(each);
    sections.push_back({fmt::format("table-{}", sections.size() + 1), table.caption, html_table(table)});
  }
  for (const Chart& chart : report.charts) sections.push_back({chart.id, chart.title, html_chart(chart)});
  if (report.title.empty() && report.rows.size() == 1 && report.rows.front().plan)
    sections.push_back(timeline_section(*report.rows.front().plan));
  if (!page.notes.empty()) sections.push_back({"notes", "Notes", html_list(as_lines(page.notes))});
  return html_page("Training plan", as_lines(page.facts), sections);
}

}  // namespace collbench::analysis
