#include "analysis/time_curve.hpp"

#include <algorithm>
#include <utility>

namespace collbench {
namespace {

double slope(const TimePoint& from, const TimePoint& to) {
  return (to.seconds - from.seconds) / (to.bytes - from.bytes);
}

}  // namespace

TimeCurve::TimeCurve(std::vector<TimePoint> points) : points_(std::move(points)) {
  std::sort(points_.begin(), points_.end(),
            [](const TimePoint& left, const TimePoint& right) { return left.bytes < right.bytes; });
  for (std::size_t i = points_.size(); i-- > 1;) {
    points_[i - 1].seconds = std::min(points_[i - 1].seconds, points_[i].seconds);
  }
}

TimeCurve TimeCurve::line(double alpha_seconds, double seconds_per_byte) {
  return TimeCurve({{.bytes = 0, .seconds = alpha_seconds},
                    {.bytes = 1e6, .seconds = alpha_seconds + 1e6 * seconds_per_byte}});
}

double TimeCurve::seconds(double bytes) const {
  if (points_.empty()) return 0;
  if (points_.size() == 1) return points_.front().seconds;
  // The last point, but for the largest one, that is no larger than `size`; the first where none is.
  const auto before = [this](double size) {
    return std::upper_bound(points_.begin() + 1, points_.end() - 1, size,
                            [](double left, const TimePoint& right) { return left < right.bytes; }) -
           1;
  };
  const auto from = before(bytes);
  const TimePoint& last = points_.back();
  if (bytes <= last.bytes)
    return std::max(0.0, from->seconds + (bytes - from->bytes) * slope(*from, *(from + 1)));
  return last.seconds +
         (bytes - last.bytes) * std::max(slope(*from, last), slope(*before(last.bytes / 4), last));
}

double TimeCurve::seconds(double bytes, double working_set_bytes) const {
  const double alone = seconds(bytes);
  const double same_working_set = working_set_bytes / 2;
  if (same_working_set <= bytes) return alone;
  return std::max(alone, bytes / same_working_set * seconds(same_working_set));
}

}  // namespace collbench
