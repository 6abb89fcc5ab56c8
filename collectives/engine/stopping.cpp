#include "collectives/engine/stopping.hpp"

#include <fmt/format.h>

#include <limits>

#include "base/statistics.hpp"

namespace collbench::collectives {

double relative_half_width(const std::vector<double>& pass_seconds) {
  const auto interval = median_interval_in_time(pass_seconds);
  if (!interval) return std::numeric_limits<double>::infinity();
  const double middle = median(pass_seconds);
  return middle > 0 ? (interval->high - interval->low) / 2 / middle : 0;
}

std::string stop_reason(const StoppingRule& rule, const std::vector<double>& pass_seconds) {
  const auto passes = static_cast<int>(pass_seconds.size());
  const bool last = passes >= rule.max_passes;
  if ((last || passes >= rule.min_passes) && relative_half_width(pass_seconds) <= rule.precision) {
    return "precision reached";
  }
  if (last) return fmt::format("{} pass{}", rule.max_passes, rule.max_passes == 1 ? "" : "es");
  return {};
}

}  // namespace collbench::collectives
