#include "analysis/report/run_charts.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <algorithm>
#include <functional>
#include <optional>
#include <utility>

#include "analysis/verdict/verdict.hpp"
#include "base/error.hpp"
#include "base/record/operation.hpp"
#include "base/units.hpp"

namespace collbench::analysis {

std::string variant_name(const RowKey& key) {
  std::string text(traits(key.type).name);
  if (key.reduction) text += fmt::format(" {}", name(*key.reduction));
  if (operation(key.operation).has_in_place) text += key.in_place ? ", in place" : ", out of place";
  if (key.algorithm != kLibraryChoice) text += ", " + key.algorithm;
  return key.root ? text + fmt::format(", root {}", *key.root) : text;
}

std::string series_name(const RowKey& key) {
  return fmt::format("{} {}", operation(key.operation).name, variant_name(key));
}

namespace {

constexpr std::size_t kMaxSeries = 6;  ///< measured ones of one chart: more cannot be told from each other

/// What makes a y of a time: the time itself, or the bandwidth that follows.
using FromSeconds = std::function<double(double seconds)>;

const RowKey& key_of(const SizeSeries& series) { return series.front()->measurement.key; }

/// A row's bandwidth if it took a second, in GB/s; none where one rank moves nothing. By it every time of the
/// row becomes a rate in the same way.
std::optional<double> rate_of_a_second(const Row& row, int ranks) {
  Row probe;
  probe.measurement.key = row.measurement.key;
  probe.measurement.seconds = 1;
  const std::optional<double> rate = rates(probe, ranks).bus_bandwidth;
  return rate ? std::optional(*rate / kGigabyte) : std::nullopt;
}

FromSeconds as_rate(const Row& row, int ranks) {
  return [of_a_second = rate_of_a_second(row, ranks).value_or(0)](double seconds) {
    return of_a_second / seconds;
  };
}

FromSeconds as_time() {
  return [](double seconds) { return seconds; };
}

bool has_rate(const Row& row, int ranks) { return rate_of_a_second(row, ranks).has_value(); }

ChartPoint measured_point(const Row& row, const FromSeconds& y) {
  const Measurement& measured = row.measurement;
  ChartPoint point{static_cast<double>(measured.key.size_bytes), y(measured.seconds)};
  if (measured.interval) {
    const double a = y(measured.interval->low_seconds);
    const double b = y(measured.interval->high_seconds);
    point.low = std::min(a, b);
    point.high = std::max(a, b);
  }
  if (!measured.algorithm_ran.empty() && measured.algorithm_ran != measured.key.algorithm)
    point.note = measured.algorithm_ran;
  if (measured.nccl) point.note = measured.nccl->algorithm + " " + measured.nccl->protocol;
  return point;
}

/// A model's line over the sizes of a series; without a point where the model has no time.
ChartSeries model_series(const SizeSeries& rows, SeriesKind kind, const std::string& name,
                         std::optional<double> Expectation::* seconds,
                         const std::function<FromSeconds(const Row&)>& scale) {
  ChartSeries series{name, kind, {}};
  for (const Row* row : rows) {
    const std::optional<double>& time = row->expectation.*seconds;
    if (!time || *time <= 0) continue;
    ChartPoint point{static_cast<double>(row->measurement.key.size_bytes), scale(*row)(*time)};
    if (kind == SeriesKind::expected) point.note = row->expectation.expected_by;
    series.points.push_back(std::move(point));
  }
  return series;
}

ChartBand model_band(const SizeSeries& rows, const std::string& name,
                     const std::function<FromSeconds(const Row&)>& scale) {
  ChartBand band{name, {}};
  for (const Row* row : rows) {
    const Expectation& expected = row->expectation;
    if (!expected.fastest_seconds || !expected.slowest_seconds) continue;
    const double a = scale(*row)(*expected.fastest_seconds);
    const double b = scale(*row)(*expected.slowest_seconds);
    band.edges.push_back(
        {static_cast<double>(row->measurement.key.size_bytes), std::min(a, b), std::max(a, b)});
  }
  return band;
}

/// Models seldom depend on type and place: one line stands for all series that share it.
void add_model(Chart& chart, ChartSeries series, const std::string& whose) {
  if (series.points.empty()) return;
  bool name_taken = false;
  for (const ChartSeries& each : chart.series) {
    if (each.kind != series.kind) continue;
    if (each.points == series.points) return;
    name_taken = true;
  }
  if (name_taken) series.name += " (" + whose + ")";
  chart.series.push_back(std::move(series));
}

void add_band(Chart& chart, ChartBand band, const std::string& whose) {
  if (band.edges.empty()) return;
  for (const ChartBand& each : chart.bands) {
    if (each.edges == band.edges) return;
  }
  if (!chart.bands.empty()) band.name += " (" + whose + ")";
  chart.bands.push_back(std::move(band));
}

Chart chart_of(const std::vector<SizeSeries>& all, Chart chart,
               const std::function<FromSeconds(const Row&)>& scale) {
  for (const SizeSeries& rows : all) {
    ChartSeries measured{
        (all.size() == 1 ? "measured" : "measured: ") + (all.size() == 1 ? "" : variant_name(key_of(rows))),
        SeriesKind::measured,
        {}};
    for (const Row* row : rows) measured.points.push_back(measured_point(*row, scale(*row)));
    chart.series.push_back(std::move(measured));
  }
  for (const SizeSeries& rows : all) {
    const std::string whose = variant_name(key_of(rows));
    add_model(chart,
              model_series(rows, SeriesKind::expected, "expected", &Expectation::expected_seconds, scale),
              whose);
    add_model(chart, model_series(rows, SeriesKind::ring, "ring", &Expectation::ring_seconds, scale), whose);
    add_model(chart, model_series(rows, SeriesKind::tree, "tree", &Expectation::tree_seconds, scale), whose);
    add_model(chart, model_series(rows, SeriesKind::nvls, "NVLS", &Expectation::nvls_seconds, scale), whose);
    add_band(chart, model_band(rows, "expected band", scale), whose);
  }
  return chart;
}

/// The rows that a chart can show, by size, a series for each root: a line has one value at a size.
std::vector<SizeSeries> drawable(const SizeSeries& series) {
  std::vector<SizeSeries> by_root;
  for (const Row* row : series) {
    const RowKey& key = row->measurement.key;
    if (!(row->measurement.seconds > 0) || key.size_bytes == 0) continue;
    auto found = std::ranges::find_if(
        by_root, [&key](const SizeSeries& rows) { return key_of(rows).root == key.root; });
    if (found == by_root.end()) found = by_root.insert(by_root.end(), SizeSeries{});
    found->push_back(row);
  }
  return by_root;
}

std::vector<Chart> charts_of(const Run& run, OperationId id, const std::vector<SizeSeries>& all,
                             const std::string& part) {
  const auto ranks = static_cast<int>(run.ranks.size());
  const Operation& traits = operation(id);
  const ChartAxis size{"size", AxisUnit::bytes, true};
  std::vector<Chart> charts;
  const bool rated = std::ranges::all_of(all, [ranks](const SizeSeries& rows) {
    return std::ranges::all_of(rows, [ranks](const Row* row) { return has_rate(*row, ranks); });
  });
  const std::string of = (all.size() == 1 ? " (" + variant_name(key_of(all.front())) + ")" : "") +
                         (run.gpus_simulated ? ", SIMULATED GPUs: no time is a GPU's" : "");
  if (rated) {
    charts.push_back(chart_of(all,
                              {.id = fmt::format("busbw-{}{}", traits.option, part),
                               .title = fmt::format("{}: bus bandwidth by size{}", traits.name, of),
                               .x = size,
                               .y = {"busbw (GB/s)", AxisUnit::gigabytes, false},
                               .series = {}},
                              [ranks](const Row& row) { return as_rate(row, ranks); }));
  }
  charts.push_back(chart_of(all,
                            {.id = fmt::format("time-{}{}", traits.option, part),
                             .title = fmt::format("{}: time by size{}", traits.name, of),
                             .x = size,
                             .y = {"time", AxisUnit::seconds, true},
                             .series = {}},
                            [](const Row&) { return as_time(); }));
  return charts;
}

}  // namespace

std::vector<OperationCharts> run_charts(const Run& run) {
  std::vector<OperationCharts> result;
  std::vector<std::pair<OperationId, std::vector<SizeSeries>>> by_operation;
  for (const SizeSeries& series : series_of(run.rows)) {
    for (SizeSeries& rows : drawable(series)) {
      const OperationId id = key_of(rows).operation;
      auto found = std::ranges::find_if(by_operation, [id](const auto& each) { return each.first == id; });
      if (found == by_operation.end()) found = by_operation.insert(by_operation.end(), {id, {}});
      found->second.push_back(std::move(rows));
    }
  }
  for (const auto& [id, all] : by_operation) {
    OperationCharts charts{id, {}};
    for (std::size_t first = 0; first < all.size(); first += kMaxSeries) {
      const std::vector<SizeSeries> some(
          all.begin() + static_cast<std::ptrdiff_t>(first),
          all.begin() + static_cast<std::ptrdiff_t>(std::min(first + kMaxSeries, all.size())));
      const std::string part = all.size() > kMaxSeries ? fmt::format("-{}", first / kMaxSeries + 1) : "";
      for (Chart& chart : charts_of(run, id, some, part)) charts.charts.push_back(std::move(chart));
    }
    result.push_back(std::move(charts));
  }
  return result;
}

std::vector<Chart> charts_of(const std::vector<OperationCharts>& all, OperationId id) {
  const auto found = std::ranges::find(all, id, &OperationCharts::operation);
  return found == all.end() ? std::vector<Chart>{} : found->charts;
}

std::vector<Chart> all_charts(const Run& run) {
  std::vector<Chart> all;
  for (OperationCharts& each : run_charts(run)) {
    for (Chart& chart : each.charts) all.push_back(std::move(chart));
  }
  return all;
}

std::vector<std::string> run_chart_kinds() { return {"busbw", "time"}; }

std::vector<std::string> comparison_chart_kinds() { return {"busbw", "ratio"}; }

std::vector<std::string> chart_names(const std::vector<std::string>& kinds) {
  std::vector<std::string> names = kinds;
  for (const Operation& each : operations()) {
    for (const std::string& kind : kinds) names.push_back(fmt::format("{}-{}", kind, each.option));
  }
  return names;
}

std::vector<Chart> chosen_charts(const std::vector<Chart>& charts, std::string_view name) {
  const auto named = [&charts](std::string_view wanted) {
    const std::string start = std::string(wanted) + "-";
    std::vector<Chart> found;
    for (const Chart& chart : charts) {
      if (chart.id == wanted || chart.id.starts_with(start)) found.push_back(chart);
    }
    return found;
  };
  std::vector<Chart> found = named(name.empty() ? "busbw" : name);
  // Without bus bandwidth (one rank), what there is.
  if (found.empty() && name.empty()) found = charts;
  if (!found.empty() || (name.empty() && charts.empty())) return found;
  std::vector<std::string> there;
  for (const Chart& chart : charts) there.push_back(chart.id);
  throw usage_error(
      "--chart", fmt::format("there is no chart '{}' of what was measured", name),
      there.empty() ? "nothing was measured" : fmt::format("choose {}", fmt::join(there, ", ")));
}

}  // namespace collbench::analysis
