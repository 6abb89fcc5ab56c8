#pragma once
#include <string>

#include "analysis/charts/chart.hpp"

namespace collbench::analysis {

/// Throws Error (not_here) where charts cannot become PNG, before anything is measured.
void require_png();

/// The chart as PNG on white, twice the pixels of the SVG each way: the SVG as librsvg's program rsvg-convert
/// draws it, which is only run, as Graphviz is, so that collbench links no library of graphics. Throws Error:
/// not_here without that program (package librsvg2-bin), usage where it fails.
[[nodiscard]] std::string png_chart(const Chart& chart);

}  // namespace collbench::analysis
