#include "analysis/calibration_fit.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "analysis/alpha_beta_fit.hpp"
#include "analysis/calibration_points.hpp"

namespace collbench {
namespace {

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
  const double one = std::min_element(messages.begin(), messages.end(), by_bytes)->seconds;
  const double burst = std::min_element(bursts.begin(), bursts.end(), by_bytes)->seconds;
  return std::max(0.0, (burst - one) / (kBurstMessages - 1));
}

std::optional<Tier> fit_tier(const Points& points, const Points& bursts, std::uint64_t eager_limit_bytes,
                             double& worst) {
  if (points.empty()) return std::nullopt;
  const AlphaBetaFit fit = fit_alpha_beta(points);
  worst = std::max(worst, fit.largest_relative_error);
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
    if (std::any_of(gammas.begin(), gammas.end(), same)) continue;
    gammas.push_back(
        {.type = *point.type,
         .reduction = *point.reduction,
         .seconds_per_byte = seconds_per_byte(points_of(points, *point.type, *point.reduction))});
  }
  return gammas;
}

}  // namespace

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
    const int flows = *std::min_element(per_node.begin(), per_node.end());
    calibration.inter_host_bytes_per_second = flows * fit_alpha_beta(all).bytes_per_second;
  }
  calibration.gammas = fit_gammas(calibration.points);
  calibration.kappa_seconds_per_byte = seconds_per_byte(of(CalibrationKind::copy));
  return calibration;
}

}  // namespace collbench
