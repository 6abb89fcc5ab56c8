#include "analysis/models/host/calibration_fit.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace collbench::analysis {
namespace {

double slope(const TimePoint& from, const TimePoint& to) {
  return (to.seconds - from.seconds) / (to.bytes - from.bytes);
}

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

using Points = std::vector<TimePoint>;

/// The slope of work on one rank: seconds per byte.
double seconds_per_byte(Points points) {
  std::erase_if(points, [](const TimePoint& point) { return !(point.seconds > 0); });
  return points.size() < 2 ? 0 : 1 / fit_alpha_beta(points).bytes_per_second;
}

/// What each further message of a burst adds to one message.
double gap_seconds(const Points& messages, const Points& bursts) {
  if (bursts.empty()) return 0;
  const auto by_bytes = [](const TimePoint& left, const TimePoint& right) {
    return left.bytes < right.bytes;
  };
  const double one = std::ranges::min_element(messages, by_bytes)->seconds;
  const double burst = std::ranges::min_element(bursts, by_bytes)->seconds;
  return std::max(0.0, (burst - one) / (kBurstMessages - 1));
}

std::optional<Tier> fit_tier(const Points& points, const Points& bursts, std::uint64_t eager_limit_bytes,
                             double& worst) {
  if (points.empty()) return std::nullopt;
  const AlphaBetaFit fit = fit_alpha_beta(points);
  worst = std::max(worst, fit.max_relative_error);
  return Tier{.alpha_seconds = fit.alpha_seconds,
              .bytes_per_second = fit.bytes_per_second,
              .gap_seconds = gap_seconds(points, bursts),
              .eager_limit_bytes = eager_limit_bytes};
}

std::vector<ReductionCost> fit_gammas(const std::vector<CalibrationPoint>& points) {
  std::vector<ReductionCost> gammas;
  for (const CalibrationPoint& point : points) {
    if (point.kind != CalibrationKind::reduce_local || !point.type || !point.reduction) continue;
    const auto same = [&point](const auto& other) {
      return other.type == point.type && other.reduction == point.reduction;
    };
    if (std::ranges::any_of(gammas, same)) continue;
    gammas.push_back(
        {.type = *point.type,
         .reduction = *point.reduction,
         .seconds_per_byte = seconds_per_byte(points_of(points, *point.type, *point.reduction))});
  }
  return gammas;
}

}  // namespace

TimeCurve::TimeCurve(std::vector<TimePoint> points) : points_(std::move(points)) {
  std::ranges::sort(points_, {}, &TimePoint::bytes);
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

std::vector<TimePoint> points_of(const std::vector<CalibrationPoint>& points, CalibrationKind kind) {
  return points_where(points, [&](const CalibrationPoint& point) { return point.kind == kind; });
}

std::vector<TimePoint> points_of(const std::vector<CalibrationPoint>& points, DataType type,
                                 Reduction reduction) {
  return points_where(points, [&](const CalibrationPoint& point) {
    return point.kind == CalibrationKind::reduce_local && point.type == type && point.reduction == reduction;
  });
}

Calibration fit_calibration(std::vector<CalibrationPoint> points, const Identities& identities,
                            std::uint64_t eager_within_host_bytes, std::uint64_t eager_across_hosts_bytes) {
  Calibration calibration;
  calibration.points = std::move(points);
  const auto of = [&](CalibrationKind kind) { return points_of(calibration.points, kind); };
  double& worst = calibration.fit_relative_error;
  calibration.intra = fit_tier(of(CalibrationKind::send_recv_intra), of(CalibrationKind::burst_intra),
                               eager_within_host_bytes, worst);
  calibration.inter = fit_tier(of(CalibrationKind::send_recv_inter), of(CalibrationKind::burst_inter),
                               eager_across_hosts_bytes, worst);
  if (const Points all = of(CalibrationKind::send_recv_inter_all); !all.empty()) {
    const std::vector<int> per_node = ranks_per_node(identities);
    const int flows = *std::ranges::min_element(per_node);
    calibration.inter_host_bytes_per_second = flows * fit_alpha_beta(all).bytes_per_second;
  }
  calibration.gammas = fit_gammas(calibration.points);
  calibration.kappa_seconds_per_byte = seconds_per_byte(of(CalibrationKind::copy));
  return calibration;
}

}  // namespace collbench::analysis
