#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "analysis/charts/chart.hpp"

namespace collbench::analysis {

/// The kinds of charts of a run, and of a comparison.
[[nodiscard]] std::vector<std::string> run_chart_kinds();
[[nodiscard]] std::vector<std::string> comparison_chart_kinds();

/// What names a chart: "busbw" those of every operation, "busbw-all_reduce" that of one.
[[nodiscard]] std::vector<std::string> chart_names(const std::vector<std::string>& kinds);

/// The charts of that name among `charts`, in their order; of an empty name those of bus bandwidth, or of
/// time where there are none. Throws Error (usage) where there is none of that name.
[[nodiscard]] std::vector<Chart> chosen_charts(const std::vector<Chart>& charts, std::string_view name);

}  // namespace collbench::analysis
