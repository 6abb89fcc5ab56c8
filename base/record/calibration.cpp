#include "base/record/calibration.hpp"

#include <algorithm>

namespace collbench {
namespace {

constexpr double kMaxAboveLarger = 2;
constexpr double kMaxMessageGrowth = 4;  // over that of the bytes
constexpr double kMaxLocalGrowth = 8;
constexpr double kMaxNetworkGrowth = 16;  // a token bucket lets small messages pass at another rate: 11 seen
constexpr double kMaxBurst = 2.0 * kBurstMessages;
constexpr double kMaxExchange = 4;

bool on_one_curve(const CalibrationPoint& left, const CalibrationPoint& right) {
  return left.kind == right.kind && left.type == right.type && left.reduction == right.reduction;
}

/// Whether `other` cannot be right beside `point`, taking every error for an addition to `point`.
bool contradicts(const CalibrationPoint& other, const CalibrationPoint& point) {
  using enum CalibrationKind;
  if (on_one_curve(other, point))
    return point.bytes < other.bytes && point.seconds > kMaxAboveLarger * other.seconds;
  const auto is = [&](CalibrationKind one, CalibrationKind base) {
    return point.kind == one && other.kind == base && point.bytes == other.bytes;
  };
  if (is(burst_intra, send_recv_intra) || is(burst_inter, send_recv_inter))
    return point.seconds > kMaxBurst * other.seconds;
  return is(exchange_inter, send_recv_inter) && point.seconds > kMaxExchange * other.seconds;
}

/// Over that of the bytes, from one size to the next.
double max_growth(CalibrationKind kind) {
  using enum CalibrationKind;
  if (kind == copy || kind == reduce_local) return kMaxLocalGrowth;
  return kind == send_recv_inter || kind == send_recv_inter_all ? kMaxNetworkGrowth : kMaxMessageGrowth;
}

/// Whether `point` takes too long for its bytes beside the next smaller one of its curve.
bool outgrows(const CalibrationPoint& point, std::span<const CalibrationPoint> points) {
  const CalibrationPoint* smaller = nullptr;
  for (const CalibrationPoint& each : points) {
    if (!on_one_curve(each, point) || each.bytes >= point.bytes) continue;
    if (smaller == nullptr || each.bytes > smaller->bytes) smaller = &each;
  }
  if (smaller == nullptr) return false;
  const double bytes = static_cast<double>(point.bytes) / static_cast<double>(smaller->bytes);
  return point.seconds > max_growth(point.kind) * bytes * smaller->seconds;
}

}  // namespace

std::vector<std::size_t> disturbed_points(std::span<const CalibrationPoint> points) {
  std::vector<std::size_t> disturbed;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const auto against = [&](const CalibrationPoint& other) { return contradicts(other, points[i]); };
    if (outgrows(points[i], points) || std::ranges::any_of(points, against)) disturbed.push_back(i);
  }
  return disturbed;
}

}  // namespace collbench
