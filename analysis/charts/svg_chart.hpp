#pragma once
#include <string>

#include "analysis/charts/chart.hpp"

namespace collbench::analysis {

/// The chart as an SVG document 760 pixels wide and 420 high, higher where the legend takes more than a
/// line, light or dark as its reader prefers. `for_pixels`:
/// light alone, for what turns it into pixels.
[[nodiscard]] std::string svg_chart(const Chart& chart, bool for_pixels = false);

}  // namespace collbench::analysis
