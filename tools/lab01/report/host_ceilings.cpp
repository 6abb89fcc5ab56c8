#include <fmt/format.h>

#include <optional>
#include <string>

#include "base/units.hpp"
#include "tools/lab01/report/lab01.hpp"

namespace collbench::analysis {
namespace {

/// Seconds per byte of a kind at its largest calibrated size, where caches help least; none when not
/// measured.
std::optional<double> largest_seconds_per_byte(const Calibration& measured, CalibrationKind kind) {
  const CalibrationPoint* largest = nullptr;
  for (const CalibrationPoint& point : measured.points) {
    const bool sum_of_floats =
        !point.type || (point.type == DataType::float32 && point.reduction == Reduction::sum);
    if (point.kind != kind || point.bytes == 0 || point.seconds <= 0 || !sum_of_floats) continue;
    if (largest == nullptr || point.bytes > largest->bytes) largest = &point;
  }
  if (largest == nullptr) return std::nullopt;
  return largest->seconds / static_cast<double>(largest->bytes);
}

/// The calibration's point of a kind with the highest rate.
const CalibrationPoint* fastest_point(const Calibration& measured, CalibrationKind kind) {
  const CalibrationPoint* fastest = nullptr;
  const auto rate = [](const CalibrationPoint& point) {
    return static_cast<double>(point.bytes) / point.seconds;
  };
  for (const CalibrationPoint& point : measured.points) {
    if (point.kind != kind || point.bytes == 0 || point.seconds <= 0) continue;
    if (fastest == nullptr || rate(point) > rate(*fastest)) fastest = &point;
  }
  return fastest;
}

}  // namespace

/// Ring AllReduce of p ranks takes 2(p − 1)/p · S/B + (p − 1)/p · S·γ + S·κ at large S (docs/model.md).
Lab01Ceilings host_memory_ceilings(const Run& run) {
  Lab01Ceilings ceilings;
  const auto p = static_cast<double>(run.ranks.size());
  if (!run.calibration || p < 2) return ceilings;
  const Calibration& measured = *run.calibration;
  const bool many_nodes = node_count(run.ranks) > 1;
  const auto kind = many_nodes ? CalibrationKind::send_recv_inter : CalibrationKind::forward_intra;
  const auto link = largest_seconds_per_byte(measured, kind);
  const CalibrationPoint* fastest = fastest_point(measured, kind);
  if (!link || fastest == nullptr) return ceilings;
  const double gamma = largest_seconds_per_byte(measured, CalibrationKind::reduce_local).value_or(0);
  const double kappa = largest_seconds_per_byte(measured, CalibrationKind::copy).value_or(0);
  const std::string what =
      many_nodes ? "one flow across hosts" : "one rank's link within a host, all ranks at once";
  ceilings.links.push_back(
      {what + ", fastest", fmt::format("calibrated at {}", lab01_size(fastest->bytes)),
       static_cast<double>(fastest->bytes) / fastest->seconds,
       "this run's calibration; the B of its fitted line is a slope, and may be higher"});
  ceilings.links.push_back(
      {what + ", out of cache", "calibrated at its largest size", 1 / *link, "this run's calibration"});
  const double moved = 2 * (p - 1) / p;
  constexpr double kNanosecond = 1e-9;
  ceilings.algorithms.push_back(
      {"ring, data out of cache",
       fmt::format("f ÷ (f ÷ {} + (p − 1)/p × {} ns/B + {} ns/B), f = 2(p − 1)/p = {:.4g}",
                   format_rate(1 / *link), format_significant(gamma / kNanosecond, 2, 7),
                   format_significant(kappa / kNanosecond, 2, 7), moved),
       1 / *link,
       {},
       moved / (moved * *link + (p - 1) / p * gamma + kappa),
       "link, reduction γ and copy κ, each at its largest calibrated size; what fits the caches may be "
       "faster"});
  return ceilings;
}

}  // namespace collbench::analysis
