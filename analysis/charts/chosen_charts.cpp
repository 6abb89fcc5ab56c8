#include "analysis/charts/chosen_charts.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.hpp"
#include "base/record/operation.hpp"

namespace collbench::analysis {

std::vector<std::string> run_chart_kinds() { return {"busbw", "time"}; }

std::vector<std::string> comparison_chart_kinds() { return {"busbw", "ratio"}; }

std::vector<std::string> chart_names(const std::vector<std::string>& kinds) {
  std::vector<std::string> names = kinds;
  for (const Operation& each : operations()) {
    for (const std::string& kind : kinds) names.push_back(fmt::format("{}-{}", kind, each.option));
  }
  return names;
}

std::vector<Chart> chosen_charts(const std::vector<Chart>& charts, std::string_view name) {
  const auto named = [&charts](std::string_view wanted) {
    const std::string start = std::string(wanted) + "-";
    std::vector<Chart> found;
    for (const Chart& chart : charts) {
      if (chart.id == wanted || chart.id.starts_with(start)) found.push_back(chart);
    }
    return found;
  };
  std::vector<Chart> found = named(name.empty() ? "busbw" : name);
  // Without bus bandwidth (one rank), what there is.
  if (found.empty() && name.empty()) found = charts;
  if (!found.empty() || (name.empty() && charts.empty())) return found;
  std::vector<std::string> there;
  for (const Chart& chart : charts) there.push_back(chart.id);
  throw usage_error(
      "--chart", fmt::format("there is no chart '{}' of what was measured", name),
      there.empty() ? "nothing was measured" : fmt::format("choose {}", fmt::join(there, ", ")));
}

}  // namespace collbench::analysis
