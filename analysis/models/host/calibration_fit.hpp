#pragma once
#include <cstdint>
#include <vector>

#include "analysis/models/alpha_beta_fit.hpp"
#include "base/record/calibration.hpp"
#include "base/record/identities.hpp"

namespace collbench::analysis {

/// How long moving or reducing `bytes` takes, as measured from size to size: α + bytes/B with an α and a B
/// that change with the size, because a library changes its protocol and data falls out of a cache. Two
/// points, or the points of one straight line, are the α–B model itself. The idea of parameters that are
/// functions of the size: Kielmann, Bal, Verstoep, "Fast Measurement of LogP Parameters for Message Passing
/// Platforms", IPDPS workshops 2000.
class TimeCurve {
 public:
  /// Takes no time at all, as work that a simulator does not simulate.
  TimeCurve() = default;
  /// `points` in any order. A time above that of a larger size is noise, which only ever adds, and is lowered
  /// to it.
  explicit TimeCurve(std::vector<TimePoint> points);
  [[nodiscard]] static TimeCurve line(double alpha_seconds, double seconds_per_byte);

  /// On the straight line between neighboring points, continued below the first (never negative). Above the
  /// last it goes on at the rate from the last but one, or from a quarter of its size, to it, whichever is
  /// slower: noise that makes the last two as quick as each other would otherwise have any message take as
  /// long as them.
  [[nodiscard]] double seconds(double bytes) const;

  /// The same inside an operation that touches `working_set_bytes` in all on a rank. A point of `b` bytes
  /// touched 2b (read b, wrote b). A piece of a larger operation is served by the caches that hold the whole
  /// of it, so its time per byte is at least that of the point with the same working set.
  [[nodiscard]] double seconds(double bytes, double working_set_bytes) const;

 private:
  std::vector<TimePoint> points_;
};

[[nodiscard]] std::vector<TimePoint> points_of(const std::vector<CalibrationPoint>& points,
                                               CalibrationKind kind);

/// What it measured of one reduction of one type (CalibrationKind::reduce_local).
[[nodiscard]] std::vector<TimePoint> points_of(const std::vector<CalibrationPoint>& points, DataType type,
                                               Reduction reduction);

/// What the calibration's points say: α, B and gap of each tier that was measured, what a host sends in
/// total, γ for each type and reduction, κ. The limits are the largest messages in bytes that are sent
/// without waiting for the receiver. Points of no time at all (a simulator that does not simulate work) give
/// γ = κ = 0. Throws Error (not_here) when messages cannot be fitted.
[[nodiscard]] Calibration fit_calibration(std::vector<CalibrationPoint> points, const Identities& identities,
                                          std::uint64_t eager_within_host_bytes,
                                          std::uint64_t eager_across_hosts_bytes);

}  // namespace collbench::analysis
