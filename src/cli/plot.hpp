#pragma once
#include <string>
#include <vector>

#include "analysis/charts/chart.hpp"
#include "src/cli/output.hpp"

// Charts as --plot and --plot-file ask for them.

namespace collbench::program {

/// Whether the document is a picture of one chart.
[[nodiscard]] bool is_picture(const OutputDocument& document);

/// The chart that the document names, as SVG; of several the first. Throws Error (usage) where there is no
/// such chart.
[[nodiscard]] std::string chart_picture(const std::vector<analysis::Chart>& charts,
                                        const OutputDocument& document);

/// The charts that a text ends with, in `columns`; empty where none were asked for. Where there is no such
/// chart, a line that says so: the tables above it must not be lost, which may have taken hours. In ASCII
/// where the locale wants that of stdout.
[[nodiscard]] std::string text_plots(const std::vector<analysis::Chart>& charts,
                                     const OutputDocument& document, int columns);

}  // namespace collbench::program
