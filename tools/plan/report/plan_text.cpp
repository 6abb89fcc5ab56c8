#include <algorithm>
#include <numeric>
#include <vector>

#include "analysis/report/text_layout.hpp"
#include "base/text_sinks.hpp"
#include "tools/plan/report/plan_report.hpp"

namespace collbench::analysis {
namespace {

bool is_text_column(const PlanTable& table, std::size_t column) {
  return column == 0 || column + static_cast<std::size_t>(table.text_columns) >= table.columns.size();
}

/// The columns' widths; the last one takes what is left.
std::vector<int> widths_of(const PlanTable& table) {
  std::vector<int> widths;
  for (std::size_t column = 0; column < table.columns.size(); ++column) {
    int width = display_width(table.columns[column]);
    for (const auto& row : table.rows) width = std::max(width, display_width(row[column]));
    widths.push_back(width);
  }
  return widths;
}

constexpr int kMinText = 8;  ///< of a cell that is cut

/// The cell from column `left` on, its further lines below the first.
std::string wrapped_cell(const std::string& cell, int left, int columns) {
  const std::string indent(static_cast<std::size_t>(left), ' ');
  std::string lines = wrap(cell, columns, indent, indent);
  while (!lines.empty() && (lines.back() == ' ' || lines.back() == '\n')) lines.pop_back();
  return lines.size() > indent.size() ? lines.substr(indent.size()) : "";
}

std::string text_row(const PlanTable& table, const std::vector<std::string>& cells,
                     const std::vector<int>& widths, int columns) {
  std::string line = "  ";
  for (std::size_t column = 0; column < cells.size(); ++column) {
    if (column > 0) line += "  ";
    const bool last = column + 1 == cells.size();
    if (last) {
      const int left = display_width(line);
      const int room = std::max(kMinText, columns - left);
      line += table.wraps ? wrapped_cell(cells[column], left, left + room) : shorten(cells[column], room);
    } else {
      line += is_text_column(table, column)
                  ? pad_right(shorten(cells[column], widths[column]), widths[column])
                  : pad_left(cells[column], widths[column]);
    }
  }
  while (!line.empty() && line.back() == ' ') line.pop_back();
  return line + "\n";
}

/// What the last column needs at least.
constexpr int kMinLastColumn = 20;

/// Widths that leave the last column its minimum: what is too much is taken from the text before it.
std::vector<int> fitting_widths(const PlanTable& table, int columns) {
  std::vector<int> widths = widths_of(table);
  if (table.text_columns < 2 || widths.size() < 3) return widths;
  const int fixed = std::accumulate(widths.begin(), widths.end() - 1, 2 * static_cast<int>(widths.size()));
  int& before_last = widths[widths.size() - 2];
  before_last = std::max(kMinText, before_last - std::max(0, fixed + kMinText - columns));
  return widths;
}

/// Without what a terminal would obey: names of a table's lines and files are the user's.
PlanTable in_lines(PlanTable table) {
  table.heading = one_line(table.heading);
  for (auto& row : table.rows) {
    for (std::string& cell : row) cell = one_line(cell);
  }
  return table;
}

/// The table with as many of its spare columns as a line holds.
PlanTable narrowed(PlanTable table, int columns) {
  for (const std::string& spare : std::vector<std::string>(table.spare_columns)) {
    const std::vector<int> widths = widths_of(table);
    const int fixed = std::accumulate(widths.begin(), widths.end() - 1, 2 * static_cast<int>(widths.size()));
    if (fixed + std::min(kMinLastColumn, widths.back()) <= columns) break;
    const auto at = std::find(table.columns.begin(), table.columns.end(), spare) - table.columns.begin();
    if (at == static_cast<std::ptrdiff_t>(table.columns.size())) continue;
    if (is_text_column(table, static_cast<std::size_t>(at)) && table.text_columns > 1) --table.text_columns;
    table.wraps = table.wraps || at + 1 == static_cast<std::ptrdiff_t>(table.columns.size());
    table.columns.erase(table.columns.begin() + at);
    for (auto& row : table.rows) row.erase(row.begin() + at);
  }
  return table;
}

std::string text_table(const PlanTable& whole, int columns) {
  const PlanTable table = narrowed(in_lines(whole), columns);
  const std::vector<int> widths = fitting_widths(table, columns);
  std::string text = table.heading.empty() ? "\n" : "\n" + table.heading + "\n";
  text += text_row(table, table.columns, widths, columns);
  for (const auto& row : table.rows) text += text_row(table, row, widths, columns);
  return text;
}

}  // namespace

ReportTable table_of_page(const PlanTable& plan) {
  ReportTable table{.caption = plan.heading.empty() ? "Plans" : plan.heading,
                    .headings = plan.columns,
                    .is_text = plan.text_columns > 1,
                    .right = static_cast<std::size_t>(plan.text_columns)};
  for (const std::vector<std::string>& row : plan.rows) table.rows.emplace_back(row.begin(), row.end());
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

}  // namespace collbench::analysis
