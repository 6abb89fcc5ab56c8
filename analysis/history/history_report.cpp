#include "analysis/history/history_report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "analysis/report/columns.hpp"
#include "analysis/report/sections.hpp"
#include "analysis/report/text_layout.hpp"
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
  const bool known = std::any_of(hosts.begin(), hosts.end(), [](const auto& host) { return !host.empty(); });
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

}  // namespace

std::string day_of(const Run& run) {
  std::string day = one_line(run.started.substr(0, 16));
  std::replace(day.begin(), day.end(), 'T', ' ');
  return day.empty() ? std::string(kNoValue) : day;
}

std::string history_title(const MachineHistory& history) {
  return fmt::format("{} on {}: {}, {} to {}", history.kind, named_hosts(history.hosts),
                     counted(history.runs.size(), "record"), day_of(history.runs.front()),
                     day_of(history.runs.back()));
}

std::vector<std::string> history_headings() {
  return {"row", "records", "median (µs)", "last (µs)", "last/med", "changes"};
}

std::vector<std::string> history_cells(const RowTrend& trend, std::size_t needed) {
  const double usual = median(trend.seconds);
  return {format_row(trend.key),
          fmt::to_string(trend.seconds.size()),
          history_time(usual),
          history_time(trend.seconds.back()),
          fmt::format("{:.3f}", trend.seconds.back() / usual),
          trend.seconds.size() < needed ? std::string(kNoValue) : fmt::to_string(trend.changes.size())};
}

std::size_t records_to_see_a_change(std::size_t rows) {
  return values_to_see_a_change(kTrendSignificance / static_cast<double>(std::max<std::size_t>(1, rows)));
}

std::string too_few_records(std::size_t rows) {
  return fmt::format("changes {}: not known; a change of {} can be seen from {} records on", kNoValue,
                     counted(rows, "row"), records_to_see_a_change(rows));
}

std::vector<std::string> change_lines(const MachineHistory& history, const RowTrend& trend) {
  std::vector<std::string> lines;
  for (const ChangePoint& change : trend.changes) {
    const Run& run = history.runs[trend.runs[change.at]];
    const std::string p = change.p < 1e-4 ? "p < 0.0001" : fmt::format("p {:.2g}", change.p);
    lines.push_back(fmt::format("{}: {}: {} from there on ({})", day_of(run), format_row(trend.key),
                                change_words(change.ratio), p));
  }
  return lines;
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
  const auto odd = std::count_if(fleet.nodes.begin(), fleet.nodes.end(), [](const FleetNode& node) {
    return std::find(node.is_odd.begin(), node.is_odd.end(), true) != node.is_odd.end();
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

namespace {

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
    std::string line = "  " + pad_right(shorten(one_line(node.name), name_width), name_width);
    for (std::size_t row = first; row < last; ++row)
      line += pad_left(fleet_cell(node, row, fleet.medians[row]), kFleetCell);
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

}  // namespace

std::string history_text(const MachineHistory& history, int columns) {
  const std::vector<RowTrend> trends = row_trends(history.runs);
  std::string text = wrap(one_line(history_title(history)), columns, "# ", "#   ");
  TextTable table{history_headings()};
  std::vector<std::string> changes;
  const std::size_t needed = records_to_see_a_change(trends.size());
  bool has_too_few = false;
  for (const RowTrend& trend : trends) {
    table.push_back(history_cells(trend, needed));
    table.back().front() = shorten(table.back().front(), columns - kNumberColumns);
    has_too_few = has_too_few || trend.seconds.size() < needed;
    const std::vector<std::string> lines = change_lines(history, trend);
    changes.insert(changes.end(), lines.begin(), lines.end());
  }
  text += table_lines(table, 1);
  if (has_too_few) {
    text += wrap(too_few_records(trends.size()), columns, "# ", "#   ");
  }
  std::sort(changes.begin(), changes.end());
  for (const std::string& line : changes) text += wrap(one_line(line), columns, "# ", "#   ");
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
  std::vector<FleetTable> fleets;
  for (auto first = histories.begin(); first != histories.end();) {
    std::vector<Run> newest;
    auto last = first;
    for (; last != histories.end() && last->kind == first->kind; ++last) newest.push_back(last->runs.back());
    fleets.push_back(newest.size() > 1 ? fleet_table(newest) : FleetTable{});
    first = last;
  }
  return fleets;
}

std::string histories_text(const std::vector<MachineHistory>& histories, int columns) {
  std::string text;
  auto fleet = fleets_of(histories);
  std::size_t kind = 0;
  for (std::size_t i = 0; i < histories.size(); ++i) {
    const bool is_first = i == 0 || histories[i].kind != histories[i - 1].kind;
    if (is_first && i > 0) ++kind;
    if (is_first && !fleet[kind].nodes.empty()) text += fleet_text(fleet[kind], columns) + "\n";
    text += history_text(histories[i], columns) + "\n";
  }
  return terminal_text(text);
}

}  // namespace collbench::analysis
