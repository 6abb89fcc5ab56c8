#pragma once
#include <optional>
#include <string>
#include <vector>

// A chart as plain data: what is drawn, in which units, on which axes; not how. The HTML page, the SVG and
// the terminal draw the same description.

namespace collbench {

/// What the numbers of an axis are, and so how its ticks are written.
enum class AxisUnit {
  bytes,      ///< "64 KiB"
  seconds,    ///< "12.3 µs"
  gigabytes,  ///< per second: "46.7 GB/s", decimal
  ratio,      ///< "1.05"
  count,      ///< "8192", "12.3"
};

struct ChartAxis {
  std::string title;  ///< with its unit where ticks do not say it: "busbw (GB/s)"
  AxisUnit unit = AxisUnit::ratio;
  bool logarithmic = false;  ///< values that are not positive are left out
};

/// What a series is, and so how it looks: what was measured is a solid line with points, what a model says a
/// dashed one.
enum class SeriesKind { measured, expected, ring, tree, nvls };

struct ChartPoint {
  double x = 0;
  double y = 0;
  std::optional<double> low{};   ///< of the 95 % interval of y; none where there is none
  std::optional<double> high{};  ///< likewise
  std::string note{};            ///< what is shown beside the numbers: the algorithm that ran

  bool operator==(const ChartPoint&) const = default;
};

struct ChartSeries {
  std::string name;
  SeriesKind kind = SeriesKind::measured;
  std::vector<ChartPoint> points;  ///< by ascending x

  bool operator==(const ChartSeries&) const = default;
};

/// Where a healthy machine's values lie.
struct BandEdge {
  double x = 0;
  double low = 0;
  double high = 0;

  bool operator==(const BandEdge&) const = default;
};

struct ChartBand {
  std::string name;
  std::vector<BandEdge> edges;  ///< by ascending x

  bool operator==(const ChartBand&) const = default;
};

/// A horizontal line over the whole chart.
struct ReferenceLine {
  std::string name;
  double y = 0;
};

struct Chart {
  std::string id;     ///< unique in a document, of letters, digits and hyphens
  std::string title;  ///< "AllReduce: bus bandwidth by size"
  ChartAxis x;
  ChartAxis y;
  std::vector<ChartSeries> series;
  std::vector<ChartBand> bands{};
  std::vector<ReferenceLine> references{};
};

/// From `low` to `high`, both inside; low < high.
struct AxisRange {
  double low = 0;
  double high = 1;
};

struct AxisTick {
  double at = 0;
  std::string text;
};

/// A value as people read it, with its unit: "64 KiB", "12.3 µs", "46.7 GB/s".
[[nodiscard]] std::string value_text(double value, AxisUnit unit);

/// What the axis shows: everything in the chart that can be shown, and 0 on a linear axis of rates. Whole
/// powers of ten, or of two for bytes, bound a logarithmic one. Never empty, also for a chart without points.
[[nodiscard]] AxisRange x_range(const Chart& chart);
[[nodiscard]] AxisRange y_range(const Chart& chart);

/// At most `maximum` (2 at least) round values in the range, ascending, as the axis writes them.
[[nodiscard]] std::vector<AxisTick> axis_ticks(const ChartAxis& axis, const AxisRange& range, int maximum);

/// Where a value lies on the axis: 0 at the low end, 1 at the high one. None for what a logarithmic axis
/// cannot show.
[[nodiscard]] std::optional<double> position_on(const ChartAxis& axis, const AxisRange& range, double value);

/// The numbers of a chart as a table, so that no number stands in a picture alone: the headings, then a line
/// for each x of any series.
[[nodiscard]] std::vector<std::vector<std::string>> chart_table(const Chart& chart);

/// The chart as an SVG document 760 pixels wide and 420 high, higher where the legend takes more than a
/// line, light or dark as its reader prefers. `for_pixels`:
/// light alone, for what turns it into pixels.
[[nodiscard]] std::string svg_chart(const Chart& chart, bool for_pixels = false);

}  // namespace collbench
