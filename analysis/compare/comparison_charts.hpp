#pragma once
#include <vector>

#include "analysis/charts/chart.hpp"
#include "analysis/compare/comparison.hpp"

namespace collbench::analysis {

/// Both sides in one chart, for each operation and kind of row (type, reduction, place, algorithm) that both
/// have: bus bandwidth over size, and new time over base time with its 95 % interval. No bus bandwidth where
/// one rank moves nothing.
[[nodiscard]] std::vector<Chart> comparison_charts(const Comparison& comparison);

}  // namespace collbench::analysis
