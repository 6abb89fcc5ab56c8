// terminal_chart() of document.hpp: a chart where there are only letters.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <optional>
#include <string_view>
#include <utility>

#include "base/document/document.hpp"
#include "base/document/text_layout.hpp"

namespace collbench {
namespace {

constexpr int kMinColumns = 40;
constexpr int kMaxColumns = 110;
constexpr int kRows = 14;
constexpr int kLabelWidth = 10;  ///< of the y axis' ticks
/// What a chart is made of.
struct LetterSet {
  std::array<std::string_view, 6> signs;  ///< of points, for each series that was measured
  std::string_view line, shade, side, corner, bottom;
};

constexpr LetterSet kUnicodeLetters{{"●", "○", "◆", "◇", "■", "□"}, "·", "░", "│", "└", "─"};
constexpr LetterSet kAsciiLetters{{"*", "o", "#", "+", "x", "@"}, "-", ".", "|", "+", "-"};

struct TerminalCanvas {
  int columns;
  const LetterSet& letters;
  std::vector<std::vector<std::string>> cells;  ///< row by row, the upper one first

  std::string& at(int column, int row) {
    return cells[static_cast<std::size_t>(row)].at(static_cast<std::size_t>(column));
  }
  void put(int column, int row, std::string_view letter) {
    if (column >= 0 && column < columns && row >= 0 && row < kRows) at(column, row) = letter;
  }
};

/// Values of a chart on the canvas.
struct TerminalPlot {
  const Chart& chart;
  AxisRange x_range;
  AxisRange y_range;

  [[nodiscard]] std::optional<double> x(double value) const { return position_on(chart.x, x_range, value); }
  [[nodiscard]] std::optional<double> y(double value) const { return position_on(chart.y, y_range, value); }
};

int canvas_column(const TerminalCanvas& canvas, double x) {
  return static_cast<int>(std::lround(x * (canvas.columns - 1)));
}
int canvas_row(double y) { return static_cast<int>(std::lround((1 - y) * (kRows - 1))); }

/// From one point of the page to another, which are from 0 to 1.
void draw_line(TerminalCanvas& canvas, double x1, double y1, double x2, double y2) {
  const int steps = 2 * canvas.columns;
  for (int step = 0; step <= steps; ++step) {
    const double share = static_cast<double>(step) / steps;
    canvas.put(canvas_column(canvas, x1 + share * (x2 - x1)), canvas_row(y1 + share * (y2 - y1)),
               canvas.letters.line);
  }
}

void draw_series(TerminalCanvas& canvas, const TerminalPlot& plot, const ChartSeries& series) {
  for (std::size_t i = 0; i + 1 < series.points.size(); ++i) {
    const auto x1 = plot.x(series.points[i].x);
    const auto y1 = plot.y(series.points[i].y);
    const auto x2 = plot.x(series.points[i + 1].x);
    const auto y2 = plot.y(series.points[i + 1].y);
    if (x1 && y1 && x2 && y2) draw_line(canvas, *x1, *y1, *x2, *y2);
  }
}

/// Between two edges as between their neighbors.
void shade_band(TerminalCanvas& canvas, const TerminalPlot& plot, const ChartBand& band) {
  for (std::size_t i = 0; i + 1 < band.edges.size(); ++i) {
    const BandEdge& a = band.edges[i];
    const BandEdge& b = band.edges[i + 1];
    const auto x1 = plot.x(a.x);
    const auto x2 = plot.x(b.x);
    const auto low1 = plot.y(a.low);
    const auto low2 = plot.y(b.low);
    const auto high1 = plot.y(a.high);
    const auto high2 = plot.y(b.high);
    if (!x1 || !x2 || !low1 || !low2 || !high1 || !high2) continue;
    for (int column = canvas_column(canvas, *x1); column <= canvas_column(canvas, *x2); ++column) {
      const double at = static_cast<double>(column) / (canvas.columns - 1);
      const double share = *x2 > *x1 ? std::clamp((at - *x1) / (*x2 - *x1), 0.0, 1.0) : 0;
      const int top = canvas_row(*high1 + share * (*high2 - *high1));
      const int bottom = canvas_row(*low1 + share * (*low2 - *low1));
      for (int row = top; row <= bottom; ++row) canvas.put(column, row, canvas.letters.shade);
    }
  }
}

void put_points(TerminalCanvas& canvas, const TerminalPlot& plot, const ChartSeries& series,
                std::string_view sign) {
  for (const ChartPoint& point : series.points) {
    const auto x = plot.x(point.x);
    const auto y = plot.y(point.y);
    if (x && y) canvas.put(canvas_column(canvas, *x), canvas_row(*y), sign);
  }
}

/// The ticks below the chart, as many as stand side by side.
std::string x_labels(const TerminalPlot& plot, int columns) {
  constexpr int kLabelRoom = 11;
  std::string line(static_cast<std::size_t>(kLabelWidth + 1), ' ');
  int used = kLabelWidth + 1;
  for (const AxisTick& tick : axis_ticks(plot.chart.x, plot.x_range, std::max(2, columns / kLabelRoom))) {
    const double x = plot.x(tick.at).value_or(0);
    const int middle = kLabelWidth + 1 + static_cast<int>(std::lround(x * (columns - 1)));
    const int width = display_width(tick.text);
    const int start = std::clamp(middle - width / 2, kLabelWidth + 1,
                                 std::max(kLabelWidth + 1, kLabelWidth + 1 + columns - width));
    if (start < used) continue;
    line += std::string(static_cast<std::size_t>(start - used), ' ') + tick.text + ' ';
    used = start + width + 1;
  }
  line.erase(line.find_last_not_of(' ') + 1);
  return line + "\n";
}

/// Entries side by side, none broken over two lines.
std::string legend_lines(const std::vector<std::string>& entries, int columns) {
  std::string text;
  std::string line;
  for (const std::string& entry : entries) {
    const std::string shown = "   " + shorten(entry, columns - 2);
    if (!line.empty() && display_width(line + shown) > columns) text += std::exchange(line, "") + "\n";
    line += line.empty() ? shown.substr(1) : shown;
  }
  return line.empty() ? text : text + line + "\n";
}

/// Puts the points of what was measured over all else, and names everything that the chart shows.
std::vector<std::string> put_measured(TerminalCanvas& canvas, const TerminalPlot& plot) {
  const LetterSet& letters = canvas.letters;
  const Chart& chart = plot.chart;
  std::vector<std::string> legend;
  std::size_t index = 0;
  for (const ChartSeries& series : chart.series) {
    if (series.kind != SeriesKind::measured) continue;
    const std::string_view sign = letters.signs.at(index++ % letters.signs.size());
    put_points(canvas, plot, series, sign);
    legend.push_back(fmt::format("{} {}", sign, series.name));
  }
  if (std::ranges::any_of(chart.series,
                          [](const ChartSeries& series) { return series.kind == SeriesKind::expected; }))
    legend.push_back(fmt::format("{} expected", letters.line));
  for (const ReferenceLine& line : chart.references)
    legend.push_back(fmt::format("{} {}", letters.line, line.name));
  if (!chart.bands.empty()) legend.push_back(fmt::format("{} expected band", letters.shade));
  return legend;
}

}  // namespace

std::string terminal_chart(const Chart& chart, int columns, ChartLetters letters) {
  const int page = std::clamp(columns, kMinColumns, kMaxColumns);
  const LetterSet& set = letters == ChartLetters::unicode ? kUnicodeLetters : kAsciiLetters;
  const int across = page - kLabelWidth - 1;
  const TerminalPlot plot{chart, x_range(chart), y_range(chart)};
  TerminalCanvas canvas{
      across, set, {kRows, std::vector<std::string>(static_cast<std::size_t>(across), " ")}};
  for (const ChartBand& band : chart.bands) shade_band(canvas, plot, band);
  for (const ChartSeries& series : chart.series) {
    if (series.kind == SeriesKind::expected) draw_series(canvas, plot, series);
  }
  for (const ReferenceLine& line : chart.references)
    if (const auto y = plot.y(line.y)) draw_line(canvas, 0, *y, 1, *y);
  const std::vector<std::string> legend = put_measured(canvas, plot);
  std::vector<std::string> labels(kRows);  // beside the rows
  for (const AxisTick& tick : axis_ticks(chart.y, plot.y_range, 6))
    if (const int row = canvas_row(plot.y(tick.at).value_or(0)); row >= 0 && row < kRows)
      labels[static_cast<std::size_t>(row)] = tick.text;
  std::string text =
      wrap(chart.title, page, "", "  ") + legend_lines(legend, page) + wrap(chart.y.title, page, "  ", "  ");
  for (int row = 0; row < kRows; ++row) {
    std::string line =
        fmt::format("{}{}", pad_left(labels[static_cast<std::size_t>(row)], kLabelWidth), set.side);
    for (int column = 0; column < across; ++column) line += canvas.at(column, row);
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  text += pad_left("", kLabelWidth).append(set.corner);
  for (int column = 0; column < across; ++column) text += set.bottom;
  return text + "\n" + x_labels(plot, across);
}

}  // namespace collbench
