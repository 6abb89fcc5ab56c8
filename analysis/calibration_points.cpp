#include "analysis/calibration_points.hpp"

namespace collbench {
namespace {

template <typename Wanted>
std::vector<TimePoint> points_where(const std::vector<CalibrationPoint>& points, const Wanted& wanted) {
  std::vector<TimePoint> found;
  for (const CalibrationPoint& point : points) {
    if (wanted(point)) {
      found.push_back({.bytes = static_cast<double>(point.bytes), .seconds = point.seconds});
    }
  }
  return found;
}

}  // namespace

std::vector<TimePoint> points_of(const std::vector<CalibrationPoint>& points, CalibrationKind kind) {
  return points_where(points, [&](const CalibrationPoint& point) { return point.kind == kind; });
}

std::vector<TimePoint> points_of(const std::vector<CalibrationPoint>& points, DataType type,
                                 Reduction reduction) {
  return points_where(points, [&](const CalibrationPoint& point) {
    return point.kind == CalibrationKind::reduce_local && point.type == type && point.reduction == reduction;
  });
}

}  // namespace collbench
