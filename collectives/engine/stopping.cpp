#include "collectives/engine/stopping.hpp"

#include <limits>

#include "base/statistics.hpp"

namespace collbench::collectives {

double relative_half_width(const std::vector<double>& pass_seconds) {
  const auto interval = median_interval_in_time(pass_seconds);
  if (!interval) return std::numeric_limits<double>::infinity();
  const double middle = median(pass_seconds);
  return middle > 0 ? (interval->high - interval->low) / 2 / middle : 0;
}

std::optional<Stop> stop_reason(const StoppingRule& rule, const std::vector<double>& pass_seconds) {
  const auto passes = static_cast<int>(pass_seconds.size());
  const bool last = passes >= rule.max_passes;
  if ((last || passes >= rule.min_passes) && relative_half_width(pass_seconds) <= rule.precision) {
    return Stop{.reason = StopReason::precision_reached};
  }
  if (last) return Stop{.reason = StopReason::pass_limit, .limit = rule.max_passes};
  return std::nullopt;
}

}  // namespace collbench::collectives
