#include "tools/plan/report/plan_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <sstream>

#include "analysis/report/html/markup.hpp"
#include "analysis/report/report.hpp"
#include "base/error.hpp"
#include "base/text_sinks.hpp"

namespace collbench::analysis {

namespace {

/// A format: its writer, and what its text goes through last.
struct PlanFormat {
  std::string_view name;
  std::string (*as_shown)(std::string_view document);
  std::string (*write)(const PlanReport& report, int columns);
};

constexpr std::array<PlanFormat, 5> kPlanFormats{{
    {"text", terminal_text, plan_text},
    {"md", page_text, [](const PlanReport& report, int) { return plan_markdown(report); }},
    {"html", page_text, [](const PlanReport& report, int) { return plan_html(report); }},
    {"csv", page_text, [](const PlanReport& report, int) { return plan_csv(report); }},
    {"json", json_text, [](const PlanReport& report, int) { return plan_json(report); }},
}};

constexpr int kMinText = 8;         ///< of a cell that is cut
constexpr int kMinLastColumn = 20;  ///< what the last column needs at least

/// Columns of a line before the last column of the table.
int left_of_last(const TextTable& cells) { return table_width(cells) - column_widths(cells).back(); }

/// Takes out the spare columns that a line does not hold.
void narrow(PlanTable& table, int columns) {
  for (const std::string& spare : table.spare_columns) {
    const int needed = std::min(kMinLastColumn, column_widths(table.cells).back());
    if (left_of_last(table.cells) + needed <= columns) break;
    const std::vector<std::string>& names = table.cells.front();
    const auto at = static_cast<std::size_t>(std::ranges::find(names, spare) - names.begin());
    if (at == names.size()) continue;
    const bool is_text = at == 0 || at + static_cast<std::size_t>(table.text_columns) >= names.size();
    if (is_text && table.text_columns > 1) --table.text_columns;
    table.wraps = table.wraps || at + 1 == names.size();
    drop_column(table.cells, at);
  }
}

/// The last column has what the others leave of a line; what it lacks of its minimum is taken from the text
/// before it.
std::string text_table(PlanTable table, int columns) {
  narrow(table, columns);
  const std::size_t last = table.cells.front().size() - 1;
  if (table.text_columns > 1 && last > 1) {
    const int too_much = std::max(0, left_of_last(table.cells) + kMinText - columns);
    const int width = std::max(kMinText, column_widths(table.cells)[last - 1] - too_much);
    for (auto& row : table.cells) row[last - 1] = pad_right(shorten(row[last - 1], width), width);
  }
  const int room = std::max(kMinText, columns - left_of_last(table.cells));
  TextTable lines;
  for (std::vector<std::string>& row : table.cells) {
    std::istringstream pieces(table.wraps ? wrap(row.back(), room, "", "")
                                          : shorten(row.back(), room) + "\n");
    while (std::getline(pieces, row.back())) {
      lines.push_back(row);
      row.assign(row.size(), "");
    }
  }
  return "\n" + (table.heading.empty() ? "" : one_line(table.heading) + "\n") +
         table_lines(lines, 1, static_cast<std::size_t>(table.text_columns));
}

ReportBlock timeline_block(const TrainingPlan& plan) {
  try {
    return ReportPicture{timeline_svg(plan), "One step, stage by stage",
                         "The passes of each pipeline stage over the time of a step"};
  } catch (const Error& error) {
    return fmt::format("No picture: {}.", error.what());
  }
}

}  // namespace

std::vector<std::string> plan_formats() {
  std::vector<std::string> names;
  for (const PlanFormat& format : kPlanFormats) names.emplace_back(format.name);
  return names;
}

std::string written_plan(const PlanReport& report, std::string_view format, int columns) {
  const auto* const found = std::ranges::find(kPlanFormats, format, &PlanFormat::name);
  if (found != kPlanFormats.end()) return found->as_shown(found->write(report, columns));
  throw usage_error("--format", fmt::format("'{}' is not a format of a training plan", format),
                    "choose " + format_list(plan_formats()));
}

ReportTable table_of_page(const PlanTable& plan) {
  ReportTable table{.caption = plan.heading.empty() ? "Plans" : plan.heading,
                    .headings = plan.cells.front(),
                    .is_text = plan.text_columns > 1,
                    .right = static_cast<std::size_t>(plan.text_columns)};
  for (auto row = plan.cells.begin() + 1; row != plan.cells.end(); ++row)
    table.rows.emplace_back(row->begin(), row->end());
  return table;
}

std::string plan_text(const PlanReport& report, int columns) {
  const PlanPage page = plan_page(report);
  const int line = std::max(80, columns);
  std::string text;
  for (const std::string& fact : page.facts) text += wrap(one_line(fact), std::min(line, 118), "", "  ");
  for (const PlanTable& table : page.tables) text += text_table(table, line);
  if (!page.notes.empty()) text += "\n";
  for (const std::string& note : page.notes) text += wrap(one_line(note), std::min(line, 118), "", "  ");
  return text;
}

std::string plan_markdown(const PlanReport& report) {
  const PlanPage page = plan_page(report);
  std::string text = "# Training plan\n\n";
  for (const std::string& fact : page.facts) text += "- " + markdown_text(fact) + "\n";
  for (const PlanTable& table : page.tables)
    text += (table.heading.empty() ? "\n" : "\n## " + table.heading + "\n\n") +
            markdown_table(table_of_page(table));
  if (!page.notes.empty()) text += "\n";
  for (const std::string& note : page.notes) text += "- " + markdown_text(note) + "\n";
  return text;
}

std::string plan_html(const PlanReport& report) {
  const PlanPage page = plan_page(report);
  std::vector<ReportSection> sections;
  for (const PlanTable& each : page.tables) {
    const ReportTable table = table_of_page(each);
    sections.push_back({table.caption, {table}, fmt::format("table-{}", sections.size() + 1)});
  }
  for (const Chart& chart : report.charts) sections.push_back({chart.title, {std::vector{chart}}, chart.id});
  if (report.title.empty() && report.rows.size() == 1 && report.rows.front().plan)
    sections.push_back({"Timeline", {timeline_block(*report.rows.front().plan)}, "timeline"});
  sections.push_back({"Notes", {page.notes}, "notes"});
  return html_page({"Training plan", std::move(sections), as_lines(page.facts)});
}

}  // namespace collbench::analysis
