#pragma once
#include <string>

#include "analysis/charts/chart.hpp"

namespace collbench::analysis {

/// A chart for page.js, with every number also as people read it, so that the script formats none. Both
/// scales of y are there, the chart's own first.
[[nodiscard]] std::string chart_json(const Chart& chart);

}  // namespace collbench::analysis
