#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "analysis/history/history_report.hpp"
#include "analysis/report/html/markup.hpp"
#include "analysis/report/sections.hpp"
#include "base/statistics.hpp"
#include "base/text_sinks.hpp"
#include "base/units.hpp"

namespace collbench::analysis {
namespace {

constexpr std::size_t kMaxChangedCharts =
    24;  ///< of one machine: rows with a change have a chart of their own
constexpr std::size_t kMaxSharedCharts = 12;  ///< of the other rows, some in each
constexpr std::size_t kMaxLines = 6;          ///< of one chart: more cannot be told from each other

/// The row's time over its median, by the number of the record.
ChartSeries trend_line(const MachineHistory& history, const RowTrend& trend, std::string name) {
  ChartSeries line{std::move(name), SeriesKind::measured, {}};
  const double usual = median(trend.seconds);
  for (std::size_t i = 0; i < trend.runs.size(); ++i) {
    const std::size_t run = trend.runs[i];
    line.points.push_back(
        {.x = static_cast<double>(run + 1),
         .y = trend.seconds[i] / usual,
         .note = fmt::format("{}, {}", day_of(history.runs[run]), format_seconds(trend.seconds[i]))});
  }
  return line;
}

/// Each level's median, from its first record to its last.
ChartSeries level_line(const RowTrend& trend) {
  ChartSeries line{"level between changes", SeriesKind::expected, {}};
  const double usual = median(trend.seconds);
  std::size_t first = 0;
  for (std::size_t level = 0; level <= trend.changes.size(); ++level) {
    const std::size_t last = level < trend.changes.size() ? trend.changes[level].at : trend.seconds.size();
    const double middle = median({trend.seconds.begin() + static_cast<std::ptrdiff_t>(first),
                                  trend.seconds.begin() + static_cast<std::ptrdiff_t>(last)});
    for (const std::size_t at : {first, last - 1})
      line.points.push_back({.x = static_cast<double>(trend.runs[at] + 1), .y = middle / usual});
    first = last;
  }
  return line;
}

Chart trend_chart(std::string id, std::string title) {
  return {.id = std::move(id),
          .title = std::move(title),
          .x = {"record, oldest first", AxisUnit::count, false},
          .y = {"time / its median", AxisUnit::ratio, false},
          .series = {},
          .references = {{"median", 1}}};
}

/// Rows that changed first, each by itself; the others together, operation by operation.
std::vector<Chart> trend_charts(const MachineHistory& history, const std::vector<RowTrend>& trends,
                                std::size_t machine) {
  std::vector<Chart> charts;
  std::vector<Chart> shared;
  const auto id = [&](std::size_t row) { return fmt::format("trend-{}-{}", machine + 1, row + 1); };
  for (std::size_t row = 0; row < trends.size(); ++row) {
    const RowTrend& trend = trends[row];
    if (trend.seconds.size() < 2) continue;
    const std::string name = format_row(trend.key);
    if (!trend.changes.empty()) {
      if (charts.size() == kMaxChangedCharts) continue;
      Chart& chart = charts.emplace_back(trend_chart(id(row), name));
      chart.series = {trend_line(history, trend, name), level_line(trend)};
      continue;
    }
    const std::string operation_name(operation(trend.key.operation).name);
    const bool fits = !shared.empty() && shared.back().title.starts_with(operation_name + ":") &&
                      shared.back().series.size() < kMaxLines;
    if (!fits) {
      if (shared.size() == kMaxSharedCharts) continue;
      shared.push_back(trend_chart(id(row), operation_name + ": rows without a change of level"));
    }
    shared.back().series.push_back(trend_line(history, trend, name));
  }
  std::move(shared.begin(), shared.end(), std::back_inserter(charts));
  return charts;
}

std::size_t drawn_rows(const std::vector<Chart>& charts) {
  std::size_t rows = 0;
  for (const Chart& chart : charts)
    rows +=
        static_cast<std::size_t>(std::ranges::count(chart.series, SeriesKind::measured, &ChartSeries::kind));
  return rows;
}

ReportSection machine_section(const MachineHistory& history, std::size_t machine) {
  const HistoryRows rows = history_rows(history);
  const std::vector<RowTrend>& trends = rows.trends;
  ReportTable table{"Each row over its records", rows.cells.front(), {}};
  for (std::size_t row = 0; row < trends.size(); ++row) {
    table.rows.emplace_back(rows.cells[row + 1].begin(), rows.cells[row + 1].end());
    if (!trends[row].changes.empty()) table.rows.back().back().style = "warning";
  }
  ReportLines lines;
  for (const std::string& change : rows.changes) lines.push_back({change, Tone::warning});
  if (!rows.too_few.empty()) lines.push_back({rows.too_few});
  if (lines.empty()) lines.push_back({"no row changed its level"});
  std::vector<Chart> charts = trend_charts(history, trends, machine);
  const std::size_t drawn = drawn_rows(charts);
  ReportSection section{
      history_title(history), {std::move(lines), std::move(charts)}, fmt::format("machine-{}", machine + 1)};
  const auto drawable = static_cast<std::size_t>(
      std::ranges::count_if(trends, [](const RowTrend& trend) { return trend.seconds.size() > 1; }));
  if (drawn < drawable)
    section.blocks.emplace_back(fmt::format("{} of {} rows are drawn; the table has all", drawn, drawable));
  section.blocks.emplace_back(std::move(table));
  return section;
}

ReportSection fleet_section(const FleetTable& fleet, const std::string& kind, std::size_t number) {
  ReportTable table{"Node × row: time over the median of all nodes", {"node"}, {}};
  ReportLines rows;
  for (std::size_t row = 0; row < fleet.rows.size(); ++row) {
    table.headings.push_back(fmt::to_string(row + 1));
    rows.push_back({fleet_row_title(fleet, row)});
  }
  for (const FleetNode& node : fleet.nodes) {
    std::vector<ReportCell> cells{{node.name}};
    for (std::size_t row = 0; row < fleet.rows.size(); ++row)
      cells.emplace_back(fleet_cell(node, row, fleet.medians[row]), node.is_odd[row] ? "warning" : "");
    table.rows.push_back(std::move(cells));
  }
  return {"Nodes of " + kind,
          {fleet_title(fleet), std::move(rows), std::move(table)},
          fmt::format("nodes-{}", number + 1)};
}

}  // namespace

std::string history_page(const std::vector<MachineHistory>& histories, const std::string& name) {
  Document page{"Baseline " + name, {}};
  const std::vector<FleetTable> fleets = fleets_of(histories);
  std::size_t records = 0;
  std::size_t kind = 0;
  for (std::size_t i = 0; i < histories.size(); ++i) {
    if (i > 0 && histories[i].kind != histories[i - 1].kind) ++kind;
    if (!fleets[i].nodes.empty()) page.sections.push_back(fleet_section(fleets[i], histories[i].kind, kind));
    page.sections.push_back(machine_section(histories[i], i));
    records += histories[i].runs.size();
  }
  page.lead = {{fmt::format("{} of {}", counted(records, "record"), counted(histories.size(), "machine"))}};
  return page_text(html_page(page));
}

}  // namespace collbench::analysis
