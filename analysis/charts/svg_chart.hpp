#pragma once
#include <string>

#include "analysis/charts/chart.hpp"

namespace collbench::analysis {

/// The chart as an SVG document of 760 by 420 pixels, light or dark as its reader prefers. `for_pixels`:
/// light alone, for what turns it into pixels.
[[nodiscard]] std::string svg_chart(const Chart& chart, bool for_pixels = false);

}  // namespace collbench::analysis
