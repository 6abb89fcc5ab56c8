#pragma once
#include <string>

#include "analysis/charts/chart.hpp"

namespace collbench::analysis {

/// The letters that a terminal's chart may have.
enum class ChartLetters {
  unicode,  ///< signs for points, Braille for lines, shade for the band
  ascii,
};

/// The chart in `columns` (40 at least; more than 110 are not used) and about 20 lines, each with its
/// newline: what was measured as points with a sign for each series, what is expected as a line and a band,
/// reference lines. Without what a ring or a tree would give.
[[nodiscard]] std::string terminal_chart(const Chart& chart, int columns, ChartLetters letters);

}  // namespace collbench::analysis
