#include "analysis/models/host/host_model.hpp"

#include <algorithm>

namespace collbench::analysis {
namespace {

using Points = std::vector<TimePoint>;

TimeCurve message_curve(Points points, const Tier& tier) {
  return points.empty() ? TimeCurve::line(tier.alpha_seconds, 1 / tier.bytes_per_second)
                        : TimeCurve(std::move(points));
}

/// Work on one rank starts at no time for no bytes.
TimeCurve local_curve(Points points, double seconds_per_byte) {
  if (points.empty()) return TimeCurve::line(0, seconds_per_byte);
  points.push_back({.bytes = 0, .seconds = 0});
  return TimeCurve(std::move(points));
}

/// Open MPI's for shared memory: what is assumed of a transport that does not say its own.
constexpr double kAssumedEagerBytes = 4096;

MessageTier message_tier(const Tier& tier, const Points& standing, const Points& forwarded) {
  const TimeCurve from_standing = message_curve(standing, tier);
  const TimeCurve from_forwarded = message_curve(forwarded.empty() ? standing : forwarded, tier);
  const bool limit_known = tier.eager_limit_bytes > 0;
  // A fitted α may lie above the smallest messages that were measured; no message takes less than α.
  return {
      .alpha_seconds = std::min({tier.alpha_seconds, from_standing.seconds(0), from_forwarded.seconds(0)}),
      .gap_seconds = tier.gap_seconds,
      .eager_limit_bytes = limit_known ? static_cast<double>(tier.eager_limit_bytes) : kAssumedEagerBytes,
      .standing = from_standing,
      .forwarded = from_forwarded};
}

/// What exchanges that follow each other take over a message of the same size.
double exchange_factor(const Calibration& calibration, const TimeCurve& message) {
  const Points exchanges = points_of(calibration.points, CalibrationKind::exchange_inter);
  if (exchanges.empty()) return 1;
  const double alone = message.seconds(exchanges.front().bytes);
  // More than one direction after the other is noise.
  return alone > 0 ? std::clamp(exchanges.front().seconds / alone, 1.0, 2.0) : 1;
}

std::optional<TimeCurve> reduce_curve(const Calibration& calibration, DataType type, Reduction reduction) {
  const auto gamma = std::ranges::find_if(calibration.gammas, [&](const ReductionCost& cost) {
    return cost.type == type && cost.reduction == reduction;
  });
  if (gamma == calibration.gammas.end()) return std::nullopt;
  return local_curve(points_of(calibration.points, type, reduction), gamma->seconds_per_byte);
}

}  // namespace

std::optional<HostModel> host_model(const Calibration& calibration, const Identities& identities,
                                    DataType type, std::optional<Reduction> reduction) {
  HostModel model;
  for (const Identity& identity : identities) model.node.push_back(identity.node);
  model.ranks_on_node = ranks_per_node(identities);

  if (model.ranks() > model.nodes()) {
    if (!calibration.intra) return std::nullopt;
    model.intra =
        message_tier(*calibration.intra, points_of(calibration.points, CalibrationKind::send_recv_intra),
                     points_of(calibration.points, CalibrationKind::forward_intra));
  }
  if (model.nodes() > 1) {
    if (!calibration.inter) return std::nullopt;
    model.inter =
        message_tier(*calibration.inter, points_of(calibration.points, CalibrationKind::send_recv_inter), {});
    model.inter.exchange_factor = exchange_factor(calibration, model.inter.standing);
    model.host_bytes_per_second = calibration.inter_host_bytes_per_second.value_or(0);
  }
  if (reduction) {
    auto reduce = reduce_curve(calibration, type, *reduction);
    if (!reduce) return std::nullopt;
    model.reduce = std::move(*reduce);
  }
  model.copy =
      local_curve(points_of(calibration.points, CalibrationKind::copy), calibration.kappa_seconds_per_byte);
  return model;
}

}  // namespace collbench::analysis
