#pragma once
#include <optional>
#include <vector>

#include "base/record/states.hpp"

namespace collbench::collectives {

/// When a row is done: precision reached with enough passes, the most passes, or its time.
struct StoppingRule {
  double precision = 0.05;  ///< wanted half-width of the 95 % interval, as a fraction of the median
  int min_passes = 8;       ///< with fewer the order statistics are the extremes, and the width is luck
  int max_passes = 64;
};

/// Half the width of the interval over `pass_seconds`, as a fraction of their median; infinite for fewer than
/// 6 passes.
[[nodiscard]] double relative_half_width(const std::vector<double>& pass_seconds);

/// Why a row with these pass times needs no further pass; none while it does.
[[nodiscard]] std::optional<Stop> stop_reason(const StoppingRule& rule,
                                              const std::vector<double>& pass_seconds);

}  // namespace collbench::collectives
