#include "analysis/history/history_report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "analysis/report/columns.hpp"
#include "analysis/report/sections.hpp"
#include "base/host_name.hpp"
#include "base/statistics.hpp"
#include "base/text_sinks.hpp"
#include "base/units.hpp"
#include "base/word_list.hpp"

namespace collbench::analysis {
namespace {

constexpr int kHistoryTimeWidth = 9;
constexpr std::size_t kMaxChangedCharts =
    24;  ///< of one machine: rows with a change have a chart of their own
constexpr std::size_t kMaxSharedCharts = 12;  ///< of the other rows, some in each
constexpr std::size_t kMaxLines = 6;          ///< of one chart: more cannot be told from each other

std::string named_hosts(const std::vector<std::string>& hosts) {
  const bool known = std::ranges::any_of(hosts, [](const auto& host) { return !host.empty(); });
  if (!known) return "unknown hosts";
  const bool is_no_name = is_same_host(hosts.front(), "localhost");
  return fmt::format("{}{}", fmt::join(hosts, ", "),
                     is_no_name ? " (may be several machines: judge --host NAME names one)" : "");
}

std::string history_time(double seconds) { return table_number(seconds / kMicrosecond, kHistoryTimeWidth); }

/// "12 % slower".
std::string change_words(double ratio) {
  const double percent = std::abs(ratio - 1) * 100;
  return ratio > 2
             ? fmt::format("{:.3g} times as long", ratio)
             : fmt::format("{} % {}", format_significant(percent, 2, 6), ratio > 1 ? "slower" : "faster");
}

/// "2026-10-01 12:00", or "–" of a record that does not say.
std::string day_of(const Run& run) {
  std::string day = one_line(run.started.substr(0, 16));
  std::ranges::replace(day, 'T', ' ');
  return day.empty() ? std::string(kNoValue) : day;
}

std::string change_line(const MachineHistory& history, const RowTrend& trend, const ChangePoint& change) {
  const std::string p = change.p < 1e-4 ? "p < 0.0001" : fmt::format("p {:.2g}", change.p);
  return fmt::format("{}: {}: {} from there on ({})", day_of(history.runs[trend.runs[change.at]]),
                     format_row(trend.key), change_words(change.ratio), p);
}

std::string history_title(const MachineHistory& history) {
  return fmt::format("{} on {}: {}, {} to {}", history.kind, named_hosts(history.hosts),
                     counted(history.runs.size(), "record"), day_of(history.runs.front()),
                     day_of(history.runs.back()));
}

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

/// What is said of a machine's rows over its records.
struct HistoryRows {
  std::vector<RowTrend> trends;
  ReportTable table;      ///< a row for each trend
  ReportLines changes{};  ///< of level, by time
  std::string too_few{};  ///< from how many records on a change can be seen; empty: all rows have as many
};

HistoryRows history_rows(const MachineHistory& history) {
  HistoryRows rows{
      .trends = row_trends(history.runs),
      .table = {.caption = "Each row over its records",
                .headings = {"row", "records", "median (µs)", "last (µs)", "last/med", "changes"}}};
  const std::size_t needed = values_to_see_a_change(
      kTrendSignificance / static_cast<double>(std::max<std::size_t>(1, rows.trends.size())));
  for (const RowTrend& trend : rows.trends) {
    const double usual = median(trend.seconds);
    const double last = trend.seconds.back();
    const bool is_known = trend.seconds.size() >= needed;
    rows.table.rows.push_back({format_row(trend.key),
                               fmt::to_string(trend.seconds.size()),
                               history_time(usual),
                               history_time(last),
                               fmt::format("{:.3f}", last / usual),
                               {is_known ? fmt::to_string(trend.changes.size()) : std::string(kNoValue),
                                tone_class(trend.changes.empty() ? Tone::plain : Tone::warning)}});
    for (const ChangePoint& change : trend.changes)
      rows.changes.push_back({change_line(history, trend, change), Tone::warning});
    if (!is_known)
      rows.too_few = fmt::format("changes {}: not known; with {}, a change can be seen from {} records on",
                                 kNoValue, counted(rows.trends.size(), "row"), needed);
  }
  std::ranges::sort(rows.changes, {}, &ReportLine::text);
  return rows;
}

/// With "!" where the node is odd.
std::string fleet_cell(const FleetNode& node, std::size_t row, double median_seconds) {
  if (!node.seconds[row]) return std::string(kNoValue) + " ";
  return fmt::format("{:.2f}{}", *node.seconds[row] / median_seconds, node.is_odd[row] ? "!" : " ");
}

std::string fleet_row_title(const FleetTable& fleet, std::size_t row) {
  return fmt::format("{}: {}, median {} µs", row + 1, one_line(format_row(fleet.rows[row])),
                     history_time(fleet.medians[row]));
}

std::vector<std::string> odd_nodes_of(const FleetTable& fleet) {
  std::vector<std::string> names;
  for (const FleetNode& node : fleet.nodes)
    if (std::ranges::find(node.is_odd, true) != node.is_odd.end()) names.push_back(node.name);
  return names;
}

std::string fleet_title(const FleetTable& fleet) {
  const std::string verdict =
      fleet.nodes.size() < kMinFleet
          ? fmt::format("too few nodes: which are odd is not known of fewer than {}", kMinFleet)
          : fmt::format(
                "{} odd (!: more than {:.0f} % off the median, and further than chance takes any of a "
                "healthy fleet in one of twenty tables)",
                odd_nodes_of(fleet).size(), kOddRatio * 100);
  return fmt::format("{}: newest record of each, time over the median of all; {}",
                     counted(fleet.nodes.size(), "node"), verdict);
}

ReportSection machine_section(const MachineHistory& history, const HistoryRows& rows, std::size_t machine,
                              bool with_charts) {
  ReportLines lines = rows.changes;
  if (!rows.too_few.empty()) lines.push_back({rows.too_few});
  if (lines.empty() && with_charts) lines.push_back({"no row changed its level"});
  ReportSection section{history_title(history), {std::move(lines)}, fmt::format("machine-{}", machine + 1)};
  if (with_charts) {
    std::vector<Chart> charts = trend_charts(history, rows.trends, machine);
    const std::size_t drawn = drawn_rows(charts);
    const auto drawable = static_cast<std::size_t>(
        std::ranges::count_if(rows.trends, [](const RowTrend& trend) { return trend.seconds.size() > 1; }));
    section.blocks.emplace_back(std::move(charts));
    if (drawn < drawable)
      section.blocks.emplace_back(fmt::format("{} of {} rows are drawn; the table has all", drawn, drawable));
  }
  section.blocks.emplace_back(rows.table);
  return section;
}

ReportSection fleet_section(const FleetTable& fleet, const std::string& kind, std::size_t number) {
  ReportTable table{
      .caption = "Node × row: time over the median of all nodes", .headings = {"node"}, .breaks = true};
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

/// What the headline says.
struct HistoryAnswer {
  std::size_t records = 0;
  std::size_t changes = 0;
  std::vector<std::string> odd_nodes{};
  bool has_small_fleet = false;  ///< of which nobody is odd
  bool is_known = true;          ///< all rows have the records that a change takes to be seen
};

/// "odd: n4; 2 changes of level; 40 records of 2 machines"
std::string history_headline(const HistoryAnswer& answer, std::size_t machines) {
  std::string text;
  if (!answer.odd_nodes.empty()) text += fmt::format("odd: {}; ", join_first(answer.odd_nodes, 4, ", "));
  if (answer.has_small_fleet)
    text += fmt::format("which nodes are odd is not known of fewer than {}; ", kMinFleet);
  text += answer.changes > 0 ? counted(answer.changes, "change") + " of level"
          : answer.is_known  ? "no row changed its level"
                             : "no change of level seen";
  if (!answer.is_known) text += "; not known for rows with too few records";
  return text + fmt::format("; {} of {}", counted(answer.records, "record"), counted(machines, "machine"));
}

/// Beside the first history of each kind of machine a table of its nodes, by the newest record of each; empty
/// ones beside the others, and where the kind has one node.
std::vector<FleetTable> fleets_of(const std::vector<MachineHistory>& histories) {
  std::vector<FleetTable> fleets(histories.size());
  for (std::size_t first = 0, last = 0; first < histories.size(); first = last) {
    std::vector<Run> newest;
    for (; last < histories.size() && histories[last].kind == histories[first].kind; ++last)
      newest.push_back(histories[last].runs.back());
    if (newest.size() > 1) fleets[first] = fleet_table(newest);
  }
  return fleets;
}

}  // namespace

Document history_document(const std::vector<MachineHistory>& histories, const std::string& name,
                          bool with_charts) {
  Document page{"Baseline " + name, {}};
  const std::vector<FleetTable> fleets = fleets_of(histories);
  HistoryAnswer answer;
  std::size_t kind = 0;
  for (std::size_t i = 0; i < histories.size(); ++i) {
    if (i > 0 && histories[i].kind != histories[i - 1].kind) ++kind;
    if (!fleets[i].nodes.empty()) page.sections.push_back(fleet_section(fleets[i], histories[i].kind, kind));
    const HistoryRows rows = history_rows(histories[i]);
    page.sections.push_back(machine_section(histories[i], rows, i, with_charts));
    answer.records += histories[i].runs.size();
    answer.changes += rows.changes.size();
    for (std::string& node : odd_nodes_of(fleets[i])) answer.odd_nodes.push_back(std::move(node));
    answer.has_small_fleet =
        answer.has_small_fleet || (!fleets[i].nodes.empty() && fleets[i].nodes.size() < kMinFleet);
    answer.is_known = answer.is_known && rows.too_few.empty();
  }
  page.headline = {history_headline(answer, histories.size())};
  return page;
}

}  // namespace collbench::analysis
