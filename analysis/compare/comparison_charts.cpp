#include "analysis/compare/comparison_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "analysis/report/run_charts.hpp"
#include "base/units.hpp"

namespace collbench::analysis {
namespace {

/// Rows that differ in size alone, by ascending size.
using ComparedSeries = std::vector<const ComparedRow*>;

bool differ_in_size_alone(RowKey a, const RowKey& b) {
  a.size_bytes = b.size_bytes;
  a.count = b.count;
  return a == b;
}

std::vector<ComparedSeries> compared_series(const Comparison& comparison) {
  std::vector<ComparedSeries> all;
  for (const ComparedRow& row : comparison.rows) {
    if (row.ratio <= 0 || row.key.size_bytes == 0) continue;  // a side lacks it
    auto found = std::ranges::find_if(all, [&row](const ComparedSeries& series) {
      return differ_in_size_alone(series.front()->key, row.key);
    });
    if (found == all.end()) found = all.insert(all.end(), ComparedSeries{});
    found->push_back(&row);
  }
  for (ComparedSeries& series : all) {
    std::ranges::sort(series, [](const ComparedRow* a, const ComparedRow* b) {
      return std::pair(a->key.size_bytes, a) < std::pair(b->key.size_bytes, b);
    });
  }
  return all;
}

ChartSeries compared_side(const ComparedSeries& series, std::string name, ComparedTimes ComparedRow::* side,
                          int ranks) {
  ChartSeries line{std::move(name), SeriesKind::measured, {}};
  for (const ComparedRow* row : series) {
    const double seconds = (row->*side).seconds;
    const Operation& traits = operation(row->key.operation);
    line.points.push_back({static_cast<double>(row->key.size_bytes),
                           bus_bandwidth(traits, row->key.size_bytes, ranks, seconds) / kGigabyte});
  }
  return line;
}

ChartSeries ratios_of(const ComparedSeries& series) {
  ChartSeries line{"new time over base time", SeriesKind::measured, {}};
  for (const ComparedRow* row : series) {
    ChartPoint point{static_cast<double>(row->key.size_bytes), row->ratio};
    if (row->ratio_low > 0 && !row->is_too_wide()) {
      point.low = row->ratio_low;
      point.high = row->ratio_high;
    }
    point.note = std::string(collbench::analysis::name(row->change));
    line.points.push_back(std::move(point));
  }
  return line;
}

}  // namespace

std::vector<Chart> comparison_charts(const Comparison& comparison) {
  const ChartAxis size{"size", AxisUnit::bytes, true};
  std::vector<Chart> charts;
  std::map<OperationId, int> parts;
  for (const ComparedSeries& series : compared_series(comparison)) {
    const RowKey& key = series.front()->key;
    const Operation& traits = operation(key.operation);
    const int part = ++parts[key.operation];
    const std::string id = fmt::format("{}{}", traits.option, part > 1 ? fmt::format("-{}", part) : "");
    if (bus_factor(traits, comparison.ranks) > 0) {
      charts.push_back({.id = "busbw-" + id,
                        .title = series_name(key) + ": bus bandwidth of both",
                        .x = size,
                        .y = {"busbw (GB/s)", AxisUnit::gigabytes, false},
                        .series = {compared_side(series, "base: " + comparison.base_name, &ComparedRow::base,
                                                 comparison.ranks),
                                   compared_side(series, "new: " + comparison.current_name,
                                                 &ComparedRow::current, comparison.ranks)}});
    }
    charts.push_back({.id = "ratio-" + id,
                      .title = series_name(key) + ": new time over base time, above 1 is slower",
                      .x = size,
                      .y = {"new/base", AxisUnit::ratio, false},
                      .series = {ratios_of(series)},
                      .references = {{"no difference", 1}}});
  }
  return charts;
}

}  // namespace collbench::analysis
