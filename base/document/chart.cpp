#include "base/document/chart.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>

#include "base/units.hpp"

namespace collbench {
namespace {

constexpr std::string_view kNoNumber = "–";

/// The ends of what was added.
class Extent {
 public:
  explicit Extent(bool positive_only) : positive_only_(positive_only) {}

  void add(double value) {
    if (!std::isfinite(value) || (positive_only_ && value <= 0)) return;
    low_ = std::min(low_, value);
    high_ = std::max(high_, value);
  }
  void add(const std::optional<double>& value) {
    if (value) add(*value);
  }

  [[nodiscard]] AxisRange range() const { return low_ <= high_ ? AxisRange{low_, high_} : AxisRange{1, 1}; }

 private:
  bool positive_only_;
  double low_ = std::numeric_limits<double>::infinity();
  double high_ = -std::numeric_limits<double>::infinity();
};

/// 1, 2 or 5 times a power of ten, the smallest that is not below `value`.
double round_step(double value) {
  const double power = std::pow(10.0, std::floor(std::log10(value)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= value * (1 - 1e-9)) return factor * power;
  }
  return 10 * power;
}

/// Widened to round ends, and to something that is not empty.
AxisRange widened(AxisRange range, const ChartAxis& axis) {
  if (axis.logarithmic) {
    const double base = axis.unit == AxisUnit::bytes ? 2 : 10;
    const double low = std::floor(std::log(range.low) / std::log(base) + 1e-9);
    double high = std::ceil(std::log(range.high) / std::log(base) - 1e-9);
    if (high <= low) high = low + 1;
    return {std::pow(base, low), std::pow(base, high)};
  }
  if (axis.unit == AxisUnit::gigabytes || axis.unit == AxisUnit::seconds)
    range.low = std::min(range.low, 0.0);
  if (range.high <= range.low) range.high = range.low + 1;
  constexpr int kSteps = 6;
  const double step = round_step((range.high - range.low) / kSteps);
  return {std::floor(range.low / step + 1e-9) * step, std::ceil(range.high / step - 1e-9) * step};
}

std::string tick_text(double value, AxisUnit unit) {
  switch (unit) {
    case AxisUnit::bytes:
    case AxisUnit::seconds:
      return value_text(value, unit);
    case AxisUnit::gigabytes:
    case AxisUnit::ratio:
    case AxisUnit::count:
      return fmt::format("{:.6g}", value);
  }
  return {};
}

std::vector<AxisTick> linear_ticks(const ChartAxis& axis, const AxisRange& range, int maximum) {
  std::vector<AxisTick> ticks;
  const double step = round_step((range.high - range.low) / std::max(1, maximum - 1));
  for (double i = std::ceil(range.low / step - 1e-9); i * step <= range.high + step * 1e-9; ++i)
    ticks.push_back({i * step + 0.0, tick_text(i * step + 0.0, axis.unit)});  // and no -0
  return ticks;
}

/// Powers of ten with 2 and 5 between them where there is room; of bytes powers of two, equally far apart.
std::vector<AxisTick> logarithmic_ticks(const ChartAxis& axis, const AxisRange& range, int maximum) {
  const bool binary = axis.unit == AxisUnit::bytes;
  const double base = binary ? 2 : 10;
  const int low = static_cast<int>(std::lround(std::floor(std::log(range.low) / std::log(base) + 1e-9)));
  const int high = static_cast<int>(std::lround(std::ceil(std::log(range.high) / std::log(base) - 1e-9)));
  const int stride = std::max(1, (high - low + maximum - 2) / std::max(1, maximum - 1));
  const bool with_fifths = !binary && 3 * (high - low) + 1 <= maximum;
  std::vector<AxisTick> ticks;
  for (int power = low; power <= high; power += stride) {
    for (const double factor : {1.0, 2.0, 5.0}) {
      const double at = factor * std::pow(base, power);
      if ((factor > 1 && !with_fifths) || at < range.low * (1 - 1e-9) || at > range.high * (1 + 1e-9))
        continue;
      ticks.push_back({at, tick_text(at, axis.unit)});
    }
  }
  return ticks;
}

std::string interval_text(const ChartPoint& point, AxisUnit unit) {
  std::string text = value_text(point.y, unit);
  if (point.low && point.high)
    text += fmt::format(" ({} to {})", value_text(*point.low, unit), value_text(*point.high, unit));
  return text;
}

}  // namespace

std::string value_text(double value, AxisUnit unit) {
  if (!std::isfinite(value)) return std::string(kNoNumber);
  switch (unit) {
    case AxisUnit::bytes:
      return value >= 0 && value < 9e18 ? format_bytes(static_cast<std::uint64_t>(std::llround(value)))
                                        : std::string(kNoNumber);
    case AxisUnit::seconds:
      return value == 0 ? "0" : format_seconds(value);
    case AxisUnit::gigabytes:
      return format_significant(value, 3, 9) + " GB/s";
    case AxisUnit::ratio:
      return fmt::format("{:.3f}", value);
    case AxisUnit::count:
      return fmt::format("{:.6g}", value);
  }
  return {};
}

AxisRange x_range(const Chart& chart) {
  Extent extent(chart.x.logarithmic);
  for (const ChartSeries& series : chart.series) {
    for (const ChartPoint& point : series.points) extent.add(point.x);
  }
  return widened(extent.range(), chart.x);
}

AxisRange y_range(const Chart& chart) {
  Extent extent(chart.y.logarithmic);
  for (const ChartSeries& series : chart.series) {
    for (const ChartPoint& point : series.points) {
      extent.add(point.y);
      extent.add(point.low);
      extent.add(point.high);
    }
  }
  for (const ChartBand& band : chart.bands) {
    for (const BandEdge& edge : band.edges) {
      extent.add(edge.low);
      extent.add(edge.high);
    }
  }
  for (const ReferenceLine& line : chart.references) extent.add(line.y);
  return widened(extent.range(), chart.y);
}

std::vector<AxisTick> axis_ticks(const ChartAxis& axis, const AxisRange& range, int maximum) {
  return axis.logarithmic ? logarithmic_ticks(axis, range, maximum) : linear_ticks(axis, range, maximum);
}

std::optional<double> position_on(const ChartAxis& axis, const AxisRange& range, double value) {
  if (!std::isfinite(value) || (axis.logarithmic && value <= 0)) return std::nullopt;
  if (!axis.logarithmic) return (value - range.low) / (range.high - range.low);
  return std::log(value / range.low) / std::log(range.high / range.low);
}

std::vector<std::vector<std::string>> chart_table(const Chart& chart) {
  std::vector<std::string> headings{chart.x.title};
  std::map<double, std::vector<std::string>> lines;
  const auto set = [&](double x, std::size_t column, std::string text) {
    std::vector<std::string>& cells = lines[x];
    cells.resize(std::max(cells.size(), column + 1), std::string(kNoNumber));
    cells[column] = std::move(text);
  };
  for (const ChartSeries& series : chart.series) {
    for (const ChartPoint& point : series.points)
      set(point.x, headings.size(), interval_text(point, chart.y.unit));
    const bool has_interval =
        std::ranges::any_of(series.points, [](const ChartPoint& point) { return point.low.has_value(); });
    headings.push_back(series.name + (has_interval ? " (95 % interval)" : ""));
  }
  for (const ChartBand& band : chart.bands) {
    for (const BandEdge& edge : band.edges) {
      set(edge.x, headings.size(),
          fmt::format("{} to {}", value_text(edge.low, chart.y.unit), value_text(edge.high, chart.y.unit)));
    }
    headings.push_back(band.name);
  }
  std::vector<std::vector<std::string>> table{headings};
  for (auto& [x, cells] : lines) {
    cells.resize(headings.size(), std::string(kNoNumber));
    cells.front() = value_text(x, chart.x.unit);
    table.push_back(std::move(cells));
  }
  return table;
}

}  // namespace collbench
