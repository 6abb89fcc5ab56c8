#include "analysis/history/history_report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "analysis/report/columns.hpp"
#include "analysis/report/sections.hpp"
#include "base/host_name.hpp"
#include "base/statistics.hpp"
#include "base/text_sinks.hpp"
#include "base/units.hpp"

namespace collbench::analysis {
namespace {

constexpr int kHistoryTimeWidth = 9;
constexpr int kNumberColumns = 54;  ///< what the columns of numbers of a history take, with their gaps
constexpr int kFleetCell = 8;       ///< "  12.34!"
constexpr int kMaxNodeName = 24;

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

std::string change_line(const MachineHistory& history, const RowTrend& trend, const ChangePoint& change) {
  const std::string p = change.p < 1e-4 ? "p < 0.0001" : fmt::format("p {:.2g}", change.p);
  return fmt::format("{}: {}: {} from there on ({})", day_of(history.runs[trend.runs[change.at]]),
                     format_row(trend.key), change_words(change.ratio), p);
}

std::string fleet_block(const FleetTable& fleet, std::size_t first, std::size_t last, int name_width) {
  std::string text;
  for (std::size_t row = first; row < last; ++row) {
    text += "  " + fleet_row_title(fleet, row) + "\n";
  }
  std::string heading = pad_right("  node", name_width + 2);
  for (std::size_t row = first; row < last; ++row)
    heading += pad_left(fmt::format("{} ", row + 1), kFleetCell);
  heading.erase(heading.find_last_not_of(' ') + 1);
  text += heading + "\n";
  for (const FleetNode& node : fleet.nodes) {
    std::string line = "  " + pad_right(shorten(node.name, name_width), name_width);
    for (std::size_t row = first; row < last; ++row)
      line += pad_left(fleet_cell(node, row, fleet.medians[row]), kFleetCell);
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

}  // namespace

std::string day_of(const Run& run) {
  std::string day = one_line(run.started.substr(0, 16));
  std::ranges::replace(day, 'T', ' ');
  return day.empty() ? std::string(kNoValue) : day;
}

std::string history_title(const MachineHistory& history) {
  return fmt::format("{} on {}: {}, {} to {}", history.kind, named_hosts(history.hosts),
                     counted(history.runs.size(), "record"), day_of(history.runs.front()),
                     day_of(history.runs.back()));
}

HistoryRows history_rows(const MachineHistory& history) {
  HistoryRows rows{.trends = row_trends(history.runs),
                   .cells = {{"row", "records", "median (µs)", "last (µs)", "last/med", "changes"}},
                   .changes = {},
                   .too_few = {}};
  const std::size_t needed = values_to_see_a_change(
      kTrendSignificance / static_cast<double>(std::max<std::size_t>(1, rows.trends.size())));
  for (const RowTrend& trend : rows.trends) {
    const double usual = median(trend.seconds);
    const double last = trend.seconds.back();
    const bool is_known = trend.seconds.size() >= needed;
    rows.cells.push_back({format_row(trend.key), fmt::to_string(trend.seconds.size()), history_time(usual),
                          history_time(last), fmt::format("{:.3f}", last / usual),
                          is_known ? fmt::to_string(trend.changes.size()) : std::string(kNoValue)});
    for (const ChangePoint& change : trend.changes)
      rows.changes.push_back(change_line(history, trend, change));
    if (!is_known)
      rows.too_few = fmt::format("changes {}: not known; a change of {} can be seen from {} records on",
                                 kNoValue, counted(rows.trends.size(), "row"), needed);
  }
  std::ranges::sort(rows.changes);
  return rows;
}

std::string fleet_cell(const FleetNode& node, std::size_t row, double median_seconds) {
  if (!node.seconds[row]) return std::string(kNoValue) + " ";
  return fmt::format("{:.2f}{}", *node.seconds[row] / median_seconds, node.is_odd[row] ? "!" : " ");
}

std::string fleet_row_title(const FleetTable& fleet, std::size_t row) {
  return fmt::format("{}: {}, median {} µs", row + 1, one_line(format_row(fleet.rows[row])),
                     history_time(fleet.medians[row]));
}

std::string fleet_title(const FleetTable& fleet) {
  const auto odd = std::ranges::count_if(fleet.nodes, [](const FleetNode& node) {
    return std::ranges::find(node.is_odd, true) != node.is_odd.end();
  });
  const std::string verdict =
      fleet.nodes.size() < kMinFleet
          ? fmt::format("too few nodes: which are odd is not known of fewer than {}", kMinFleet)
          : fmt::format(
                "{} odd (!: more than {:.0f} % off the median, and further than chance takes any of a "
                "healthy fleet in one of twenty tables)",
                odd, kOddRatio * 100);
  return fmt::format("{}: newest record of each, time over the median of all; {}",
                     counted(fleet.nodes.size(), "node"), verdict);
}

std::string history_text(const MachineHistory& history, int columns) {
  HistoryRows rows = history_rows(history);
  for (auto& row : rows.cells) row.front() = shorten(row.front(), columns - kNumberColumns);
  std::string text = wrap(history_title(history), columns, "# ", "#   ") + table_lines(rows.cells, 1);
  if (!rows.too_few.empty()) text += wrap(rows.too_few, columns, "# ", "#   ");
  for (const std::string& line : rows.changes) text += wrap(line, columns, "# ", "#   ");
  return text;
}

std::string fleet_text(const FleetTable& fleet, int columns) {
  if (fleet.nodes.size() < 2) return {};
  int name_width = 4;
  for (const FleetNode& node : fleet.nodes)
    name_width = std::max(name_width, std::min(kMaxNodeName, display_width(one_line(node.name))));
  std::string text = wrap(fleet_title(fleet), columns, "# ", "#   ");
  const auto in_a_block = static_cast<std::size_t>(std::max(1, (columns - name_width - 2) / kFleetCell));
  for (std::size_t first = 0; first < fleet.rows.size(); first += in_a_block) {
    if (first > 0) text += "\n";
    text += fleet_block(fleet, first, std::min(fleet.rows.size(), first + in_a_block), name_width);
  }
  return text;
}

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

std::string histories_text(const std::vector<MachineHistory>& histories, int columns) {
  std::string text;
  const std::vector<FleetTable> fleets = fleets_of(histories);
  for (std::size_t i = 0; i < histories.size(); ++i) {
    if (!fleets[i].nodes.empty()) text += fleet_text(fleets[i], columns) + "\n";
    text += history_text(histories[i], columns) + "\n";
  }
  return terminal_text(text);
}

}  // namespace collbench::analysis
