// terminal_chart() of document.hpp: a chart where there are only letters.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <optional>
#include <string_view>

#include "base/document/document.hpp"
#include "base/document/text_layout.hpp"

namespace collbench {
namespace {

constexpr int kMinColumns = 40;
constexpr int kMaxColumns = 110;
constexpr int kRows = 14;
constexpr int kLabelWidth = 10;  ///< of the y axis' ticks
constexpr int kDotsAcross = 2;   ///< of a Braille letter
constexpr int kDotsDown = 4;

constexpr std::array<std::string_view, 6> kUnicodeSigns{"●", "○", "◆", "◇", "■", "□"};
constexpr std::array<std::string_view, 6> kAsciiSigns{"*", "o", "#", "+", "x", "@"};

/// Letters row by row, the upper one first.
struct TerminalCanvas {
  TerminalCanvas(int width, ChartLetters set)
      : columns(width),
        letters(set),
        cells(static_cast<std::size_t>(width) * kRows, " "),
        dots(cells.size(), 0) {}

  int columns;
  ChartLetters letters;
  std::vector<std::string> cells;
  std::vector<unsigned> dots;  ///< of the lines, as Unicode numbers Braille patterns

  [[nodiscard]] bool has(int column, int row) const {
    return column >= 0 && column < columns && row >= 0 && row < kRows;
  }
  [[nodiscard]] std::size_t at(int column, int row) const {
    return static_cast<std::size_t>(row) * static_cast<std::size_t>(columns) +
           static_cast<std::size_t>(column);
  }
};

/// A letter of UTF-8, U+2800 to U+28FF (the Unicode Standard, "Braille Patterns").
std::string braille(unsigned pattern) {
  const unsigned code = 0x2800 + pattern;
  return {static_cast<char>(0xE0U | (code >> 12U)), static_cast<char>(0x80U | ((code >> 6U) & 0x3FU)),
          static_cast<char>(0x80U | (code & 0x3FU))};
}

/// `x` and `y` are from 0 to 1, y upwards.
void set_dot(TerminalCanvas& canvas, double x, double y) {
  constexpr std::array<std::array<unsigned, kDotsAcross>, kDotsDown> kBits{
      {{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}}};
  const int across = static_cast<int>(std::lround(x * (canvas.columns * kDotsAcross - 1)));
  const int down = static_cast<int>(std::lround((1 - y) * (kRows * kDotsDown - 1)));
  const int column = across / kDotsAcross;
  const int row = down / kDotsDown;
  if (across < 0 || down < 0 || !canvas.has(column, row)) return;
  canvas.dots[canvas.at(column, row)] |=
      kBits.at(static_cast<std::size_t>(down % kDotsDown)).at(static_cast<std::size_t>(across % kDotsAcross));
}

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
  const int steps = 2 * std::max(canvas.columns * kDotsAcross, kRows * kDotsDown);
  for (int step = 0; step <= steps; ++step) {
    const double share = static_cast<double>(step) / steps;
    set_dot(canvas, x1 + share * (x2 - x1), y1 + share * (y2 - y1));
  }
}

void draw_dotted_line(TerminalCanvas& canvas, const TerminalPlot& plot, const ChartSeries& series) {
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
      for (int row = top; row <= bottom; ++row) {
        if (canvas.has(column, row))
          canvas.cells[canvas.at(column, row)] = canvas.letters == ChartLetters::unicode ? "░" : ".";
      }
    }
  }
}

void put_lines(TerminalCanvas& canvas) {
  for (std::size_t i = 0; i < canvas.cells.size(); ++i) {
    if (canvas.dots[i] != 0)
      canvas.cells[i] = canvas.letters == ChartLetters::unicode ? braille(canvas.dots[i]) : "-";
  }
}

void put_points(TerminalCanvas& canvas, const TerminalPlot& plot, const ChartSeries& series,
                std::string_view sign) {
  for (const ChartPoint& point : series.points) {
    const auto x = plot.x(point.x);
    const auto y = plot.y(point.y);
    if (!x || !y) continue;
    const int column = canvas_column(canvas, *x);
    const int row = canvas_row(*y);
    if (canvas.has(column, row)) canvas.cells[canvas.at(column, row)] = sign;
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
    line += std::string(static_cast<std::size_t>(start - used), ' ') + tick.text;
    used = start + width + 1;
    line += ' ';
  }
  line.erase(line.find_last_not_of(' ') + 1);
  return line + "\n";
}

/// Entries side by side, none broken over two lines.
std::string legend_lines(const std::vector<std::string>& entries, int columns) {
  std::string text;
  int used = 0;
  for (const std::string& entry : entries) {
    const std::string shown = shorten(entry, columns - 2);
    const int width = display_width(shown);
    if (used > 0 && used + 3 + width > columns) {
      text += "\n";
      used = 0;
    }
    const int gap = used > 0 ? 3 : 2;
    text += std::string(static_cast<std::size_t>(gap), ' ') + shown;
    used += gap + width;
  }
  return text.empty() ? text : text + "\n";
}

/// Puts the points of what was measured over all else, and names everything that the chart shows.
std::vector<std::string> put_measured(TerminalCanvas& canvas, const TerminalPlot& plot) {
  const bool unicode = canvas.letters == ChartLetters::unicode;
  const Chart& chart = plot.chart;
  std::vector<std::string> legend;
  std::size_t index = 0;
  for (const ChartSeries& series : chart.series) {
    if (series.kind != SeriesKind::measured) continue;
    const std::string_view sign = (unicode ? kUnicodeSigns : kAsciiSigns).at(index++ % kUnicodeSigns.size());
    put_points(canvas, plot, series, sign);
    legend.push_back(std::string(sign) + " " + series.name);
  }
  const std::string line_sign = unicode ? "⠒ " : "- ";
  if (std::ranges::any_of(chart.series,
                          [](const ChartSeries& series) { return series.kind == SeriesKind::expected; }))
    legend.push_back(line_sign + "expected");
  for (const ReferenceLine& line : chart.references) legend.push_back(line_sign + line.name);
  if (!chart.bands.empty()) legend.emplace_back(unicode ? "░ expected band" : ". expected band");
  return legend;
}

/// The numbers beside the rows, empty where there is none.
std::vector<std::string> row_labels(const TerminalPlot& plot) {
  std::vector<std::string> labels(kRows);
  for (const AxisTick& tick : axis_ticks(plot.chart.y, plot.y_range, 6)) {
    const int row = canvas_row(plot.y(tick.at).value_or(0));
    if (row >= 0 && row < kRows) labels[static_cast<std::size_t>(row)] = tick.text;
  }
  return labels;
}

}  // namespace

std::string terminal_chart(const Chart& chart, int columns, ChartLetters letters) {
  const int page = std::clamp(columns, kMinColumns, kMaxColumns);
  const bool unicode = letters == ChartLetters::unicode;
  const TerminalPlot plot{chart, x_range(chart), y_range(chart)};
  TerminalCanvas canvas(page - kLabelWidth - 1, letters);
  for (const ChartBand& band : chart.bands) shade_band(canvas, plot, band);
  for (const ChartSeries& series : chart.series) {
    if (series.kind == SeriesKind::expected) draw_dotted_line(canvas, plot, series);
  }
  for (const ReferenceLine& line : chart.references)
    if (const auto y = plot.y(line.y)) draw_line(canvas, 0, *y, 1, *y);
  put_lines(canvas);
  const std::vector<std::string> legend = put_measured(canvas, plot);
  const std::vector<std::string> labels = row_labels(plot);
  std::string text =
      wrap(chart.title, page, "", "  ") + legend_lines(legend, page) + wrap(chart.y.title, page, "  ", "  ");
  for (int row = 0; row < kRows; ++row) {
    std::string line = pad_left(labels[static_cast<std::size_t>(row)], kLabelWidth) + (unicode ? "│" : "|");
    for (int column = 0; column < canvas.columns; ++column) line += canvas.cells[canvas.at(column, row)];
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  std::string rule(static_cast<std::size_t>(kLabelWidth), ' ');
  rule += unicode ? "└" : "+";
  for (int column = 0; column < canvas.columns; ++column) rule += unicode ? "─" : "-";
  return text + rule + "\n" + x_labels(plot, canvas.columns);
}

}  // namespace collbench
