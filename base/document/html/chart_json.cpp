#include "base/document/document.hpp"

#include "base/record/json_fields.hpp"

namespace collbench {
namespace {

constexpr int kXTicks = 9;
constexpr int kYTicks = 8;

Json axis_json(const ChartAxis& axis, const AxisRange& range, int ticks) {
  Json marks = Json::array();
  for (const AxisTick& tick : axis_ticks(axis, range, ticks)) marks.push_back({tick.at, tick.text});
  return {{"title", axis.title},
          {"log", axis.logarithmic},
          {"min", range.low},
          {"max", range.high},
          {"ticks", std::move(marks)}};
}

/// The chart's own scale, then the other one.
Json both_scales(Chart chart) {
  Json scales = Json::array();
  for (int i = 0; i < 2; ++i) {
    scales.push_back(axis_json(chart.y, y_range(chart), kYTicks));
    chart.y.logarithmic = !chart.y.logarithmic;
  }
  return scales;
}

Json point_json(const ChartPoint& point, const Chart& chart) {
  std::string text = value_text(point.x, chart.x.unit) + ": " + value_text(point.y, chart.y.unit);
  if (point.low && point.high) {
    text += " (95 %: " + value_text(*point.low, chart.y.unit) + " to " +
            value_text(*point.high, chart.y.unit) + ")";
  }
  if (!point.note.empty()) text += ", " + point.note;
  Json json{{"x", point.x}, {"y", point.y}, {"text", text}};
  if (point.low && point.high) json["interval"] = {*point.low, *point.high};
  return json;
}

std::string_view kind_name(SeriesKind kind) {
  switch (kind) {
    case SeriesKind::measured:
      return "measured";
    case SeriesKind::expected:
      return "expected";
    case SeriesKind::ring:
      return "ring";
    case SeriesKind::tree:
      return "tree";
    case SeriesKind::nvls:
      return "nvls";
  }
  return "";
}

}  // namespace

std::string chart_json(const Chart& chart) {
  Json series = Json::array();
  for (const ChartSeries& each : chart.series) {
    Json points = Json::array();
    for (const ChartPoint& point : each.points) points.push_back(point_json(point, chart));
    series.push_back({{"name", each.name}, {"kind", kind_name(each.kind)}, {"points", std::move(points)}});
  }
  Json bands = Json::array();
  for (const ChartBand& band : chart.bands) {
    Json edges = Json::array();
    for (const BandEdge& edge : band.edges) edges.push_back({edge.x, edge.low, edge.high});
    bands.push_back({{"name", band.name}, {"edges", std::move(edges)}});
  }
  Json references = Json::array();
  for (const ReferenceLine& line : chart.references)
    references.push_back({{"name", line.name}, {"y", line.y}});
  const Json whole{{"title", chart.title},      {"x", axis_json(chart.x, x_range(chart), kXTicks)},
                   {"y", both_scales(chart)},   {"series", std::move(series)},
                   {"bands", std::move(bands)}, {"references", std::move(references)}};
  return whole.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace collbench
