#pragma once
#include <vector>

#include "analysis/alpha_beta_fit.hpp"
#include "base/record/calibration.hpp"

namespace collbench {

/// What calibration measured of one kind, in its order.
[[nodiscard]] std::vector<TimePoint> points_of(const std::vector<CalibrationPoint>& points,
                                               CalibrationKind kind);

/// What it measured of one reduction of one type (CalibrationKind::reduce_local).
[[nodiscard]] std::vector<TimePoint> points_of(const std::vector<CalibrationPoint>& points, DataType type,
                                               Reduction reduction);

}  // namespace collbench
