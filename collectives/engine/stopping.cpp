#include "collectives/engine/measurement_loop.hpp"

#include <limits>
#include <utility>

#include "base/statistics.hpp"

namespace collbench::collectives {

double relative_half_width(const std::vector<double>& pass_seconds) {
  const auto interval = median_interval_in_time(pass_seconds);
  if (!interval) return std::numeric_limits<double>::infinity();
  const double middle = median(pass_seconds);
  return middle > 0 ? (interval->high - interval->low) / 2 / middle : 0;
}

std::optional<Stop> stop_reason(const StoppingRule& rule, const std::vector<double>& pass_seconds,
                                std::size_t all_passes) {
  if (std::holds_alternative<Endless>(rule.passes)) return std::nullopt;
  const auto* const fixed = std::get_if<FixedPasses>(&rule.passes);
  const Precision bounds =
      fixed == nullptr ? std::get<Precision>(rule.passes) : Precision{fixed->passes, fixed->passes};
  const bool last = std::cmp_greater_equal(all_passes, bounds.max_passes);
  const bool enough = last || std::cmp_greater_equal(pass_seconds.size(), bounds.min_passes);
  if (enough && relative_half_width(pass_seconds) <= rule.precision)
    return Stop{.reason = StopReason::precision_reached};
  if (last) return Stop{.reason = StopReason::pass_limit, .limit = bounds.max_passes};
  return std::nullopt;
}

void CountedPasses::update(const std::vector<RowPasses>& rows) {
  boundaries_ = state_boundaries(rows);
  states_ = commonest_states(rows, boundaries_);
}

std::vector<double> CountedPasses::of(const RowPasses& row) const {
  if (boundaries_.empty()) return row.seconds;
  for (const std::size_t state : states_) {
    std::vector<double> seconds = seconds_in_state(row, boundaries_, state);
    if (!seconds.empty()) return seconds;
  }
  return {};
}

}  // namespace collbench::collectives
