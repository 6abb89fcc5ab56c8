#include "base/document/chart.hpp"

#include <fmt/format.h>

#include <optional>
#include <pugixml.hpp>
#include <string_view>

#include "base/document/svg.hpp"

namespace collbench {
namespace {

// In pixels; the plot lies between the margins.
constexpr double kWidth = 760;
constexpr double kHeight = 420;  ///< with one line of the legend; each more adds kLegendStep
constexpr double kLeft = 78;
constexpr double kRight = 20;
constexpr double kTop = 64;
constexpr double kBottom = 56;
constexpr double kLegendTop = 44;
constexpr double kLegendStep = 18;
constexpr double kPlotWidth = kWidth - kLeft - kRight;
constexpr double kPlotHeight = kHeight - kTop - kBottom;
constexpr double kLetterWidth = 6.1;  ///< of 11 px Helvetica, on average

constexpr std::string_view kLightStyle =
    ".grid{stroke:#d0d7de;stroke-width:1}.axis{stroke:#57606a;stroke-width:1}.end{text-anchor:end}.line{fill:"
    "none;stroke-width:2}.dash{stroke-dasharray:7 "
    "4;stroke-width:1.5}.dot3{stroke-dasharray:2 "
    "3;stroke-width:1.5}.point{stroke-width:7;stroke-linecap:round}.bar{stroke-width:1.5}.band{fill:#8c959f;"
    "fill-opacity:.25;stroke:none}.model{stroke:#57606a}.reference{stroke:#57606a;stroke-dasharray:1 "
    "3;stroke-width:1.5}";
constexpr std::string_view kDarkStyle =
    ".grid{stroke:#30363d}.axis{stroke:#9198a1}.band{fill:#9198a1}.model,.reference{stroke:#9198a1}";

/// Where the chart's values lie on the page.
struct Plot {
  const Chart& chart;
  AxisRange x_range;
  AxisRange y_range;
  double top = 0;

  [[nodiscard]] double bottom() const { return top + kPlotHeight; }
  [[nodiscard]] std::optional<double> x(double value) const {
    const auto at = position_on(chart.x, x_range, value);
    return at ? std::optional(kLeft + *at * kPlotWidth) : std::nullopt;
  }
  [[nodiscard]] std::optional<double> y(double value) const {
    const auto at = position_on(chart.y, y_range, value);
    return at ? std::optional(bottom() - *at * (bottom() - top)) : std::nullopt;
  }
};

/// How a series is drawn: a color of its own for what was measured, gray dashes for what a model says.
std::string line_class(const ChartSeries& series, std::size_t color) {
  switch (series.kind) {
    case SeriesKind::measured:
      return fmt::format("line c{}", color % kLaneColors);
    case SeriesKind::expected:
      return "line model dash";
    case SeriesKind::ring:
      return "line dot3 c6";
    case SeriesKind::tree:
      return "line dot3 c7";
    case SeriesKind::nvls:
      return "line dot3 c5";
  }
  return "line";
}

void draw_line(pugi::xml_node into, const char* style, double x1, double y1, double x2, double y2) {
  draw_path(into, style, fmt::format("M{} {}L{} {}", pixels(x1), pixels(y1), pixels(x2), pixels(y2)));
}

void draw_axes(pugi::xml_node svg, const Plot& plot) {
  constexpr int kSvgXTicks = 9;
  constexpr int kSvgYTicks = 8;
  for (const AxisTick& tick : axis_ticks(plot.chart.y, plot.y_range, kSvgYTicks)) {
    const double y = plot.y(tick.at).value_or(plot.bottom());
    draw_line(svg, "grid", kLeft, y, kLeft + kPlotWidth, y);
    draw_text(svg, "end", kLeft - 8, y + 4, tick.text);
  }
  for (const AxisTick& tick : axis_ticks(plot.chart.x, plot.x_range, kSvgXTicks)) {
    const double x = plot.x(tick.at).value_or(kLeft);
    draw_line(svg, "grid", x, plot.top, x, plot.bottom());
    draw_text(svg, "mid", x, plot.bottom() + 18, tick.text);
  }
  draw_line(svg, "axis", kLeft, plot.bottom(), kLeft + kPlotWidth, plot.bottom());
  draw_line(svg, "axis", kLeft, plot.top, kLeft, plot.bottom());
  draw_text(svg, "mid faint", kLeft + kPlotWidth / 2, plot.bottom() + 40, plot.chart.x.title);
  pugi::xml_node title = draw_text(svg, "mid faint", 0, 0, plot.chart.y.title);
  title.append_attribute("transform") =
      fmt::format("translate(16 {}) rotate(-90)", pixels((plot.top + plot.bottom()) / 2)).c_str();
}

void draw_band(pugi::xml_node svg, const Plot& plot, const ChartBand& band) {
  std::string there;
  std::string back;
  for (const BandEdge& edge : band.edges) {
    const auto x = plot.x(edge.x);
    const auto low = plot.y(edge.low);
    const auto high = plot.y(edge.high);
    if (!x || !low || !high) continue;
    there += fmt::format("{}{} {}", there.empty() ? "M" : "L", pixels(*x), pixels(*high));
    back.insert(0, fmt::format("L{} {}", pixels(*x), pixels(*low)));
  }
  if (!there.empty()) draw_path(svg, "band", there + back + "Z");
}

void draw_interval(pugi::xml_node svg, const Plot& plot, const ChartPoint& point, const std::string& style) {
  if (!point.low || !point.high) return;
  const auto x = plot.x(point.x);
  const auto low = plot.y(*point.low);
  const auto high = plot.y(*point.high);
  if (!x || !low || !high || *low - *high < 3) return;  // hidden by the point
  constexpr double kCap = 4;
  draw_path(svg, style.c_str(),
            fmt::format("M{0} {2}H{1}M{3} {2}V{4}M{0} {4}H{1}", pixels(*x - kCap), pixels(*x + kCap),
                        pixels(*high), pixels(*x), pixels(*low)));
}

void draw_series(pugi::xml_node svg, const Plot& plot, const ChartSeries& series, std::size_t color) {
  std::string way;
  for (const ChartPoint& point : series.points) {
    const auto x = plot.x(point.x);
    const auto y = plot.y(point.y);
    if (x && y) way += fmt::format("{}{} {}", way.empty() ? "M" : "L", pixels(*x), pixels(*y));
  }
  if (way.empty()) return;
  draw_path(svg, line_class(series, color).c_str(), way);
  if (series.kind != SeriesKind::measured) return;
  for (const ChartPoint& point : series.points) {
    const auto x = plot.x(point.x);
    const auto y = plot.y(point.y);
    if (!x || !y) continue;
    draw_interval(svg, plot, point, fmt::format("bar c{}", color % kLaneColors));
    const pugi::xml_node dot = draw_path(svg, fmt::format("point c{}", color % kLaneColors).c_str(),
                                         fmt::format("M{} {}h0", pixels(*x), pixels(*y)));
    set_tooltip(dot, fmt::format("{}, {}: {}{}", series.name, value_text(point.x, plot.chart.x.unit),
                                 value_text(point.y, plot.chart.y.unit),
                                 point.note.empty() ? "" : ", " + point.note));
  }
}

struct LegendEntry {
  std::string name;
  std::string style;
};

std::vector<LegendEntry> legend_entries(const Chart& chart) {
  std::vector<LegendEntry> entries;
  std::size_t color = 0;
  for (const ChartSeries& series : chart.series) {
    entries.push_back({series.name, line_class(series, color)});
    if (series.kind == SeriesKind::measured) ++color;
  }
  for (const ChartBand& band : chart.bands) entries.push_back({band.name, "band"});
  for (const ReferenceLine& line : chart.references) entries.push_back({line.name, "reference"});
  return entries;
}

/// Draws the legend in as many lines as it takes; the height at which the plot may begin.
double draw_legend(pugi::xml_node svg, const Chart& chart) {
  constexpr double kSign = 26;
  constexpr double kGap = 18;
  double x = kLeft;
  double y = kLegendTop;
  for (const LegendEntry& entry : legend_entries(chart)) {
    const double width = kSign + 6 + static_cast<double>(entry.name.size()) * kLetterWidth;
    if (x > kLeft && x + width > kWidth - kRight) {
      x = kLeft;
      y += kLegendStep;
    }
    if (entry.style == "band") {
      set_size(draw_shape(svg, "rect", "band", x, y - 10), kSign, 12);
    } else {
      draw_line(svg, entry.style.c_str(), x, y - 4, x + kSign, y - 4);
    }
    draw_text(svg, "", x + kSign + 6, y, entry.name);
    x += width + kGap;
  }
  return y + kTop - kLegendTop;
}

}  // namespace

std::string svg_chart(const Chart& chart, bool for_pixels) {
  pugi::xml_document document;
  const pugi::xml_node svg =
      begin_svg(document, chart.title, {std::string(kLightStyle), std::string(kDarkStyle)},
                for_pixels ? PictureColors::light : PictureColors::as_preferred);
  const pugi::xml_node background = draw_shape(svg, "rect", "page", 0, 0);
  draw_text(svg, "title", kLeft, 22, chart.title);
  const double top = draw_legend(svg, chart);
  const Plot plot{chart, x_range(chart), y_range(chart), top};
  const double height = plot.bottom() + kBottom;
  set_size(background, kWidth, height);
  draw_axes(svg, plot);
  for (const ChartBand& band : chart.bands) draw_band(svg, plot, band);
  for (const ReferenceLine& line : chart.references) {
    if (const auto y = plot.y(line.y)) draw_line(svg, "reference", kLeft, *y, kLeft + kPlotWidth, *y);
  }
  // What was measured lies over the models' lines.
  for (const ChartSeries& series : chart.series) {
    if (series.kind != SeriesKind::measured) draw_series(svg, plot, series, 0);
  }
  std::size_t color = 0;
  for (const ChartSeries& series : chart.series) {
    if (series.kind == SeriesKind::measured) draw_series(svg, plot, series, color++);
  }
  return finish_svg(document, kWidth, height);
}

}  // namespace collbench
