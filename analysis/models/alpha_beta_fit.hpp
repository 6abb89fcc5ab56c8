#pragma once
#include <optional>
#include <span>

namespace collbench::analysis {

/// `bytes` took `seconds`.
struct TimePoint {
  double bytes = 0;
  double seconds = 0;
};

/// From `low` to `high`, with 95 % confidence if the residuals are independent and normal.
struct FitInterval {
  double low = 0;
  double high = 0;
};

/// time = alpha + bytes / bytes_per_second.
struct AlphaBetaFit {
  double alpha_seconds = 0;
  double bytes_per_second = 0;
  double r_squared = 0;           ///< 1 − Σ(relative residual)² / Σ(relative deviation from the mean)²
  double max_relative_error = 0;  ///< largest |fit/point − 1|
  /// Student's t over n − 2 degrees of freedom; none for two points, and where alpha was set to 0. The upper
  /// end of the rate is infinite where the slope may be 0.
  std::optional<FitInterval> alpha_interval = std::nullopt;
  std::optional<FitInterval> rate_interval = std::nullopt;

  /// n½: the size at which half of the rate is reached (Hockney, Parallel Computing 20(3), 1994).
  [[nodiscard]] double half_rate_bytes() const { return alpha_seconds * bytes_per_second; }
};

/// The size from which on `later` takes less time than `earlier`, by their lines; none when they do not
/// cross at a size above 0, or cross the other way.
[[nodiscard]] std::optional<double> crossover_bytes(const AlphaBetaFit& earlier, const AlphaBetaFit& later);

/// Least squares on the relative error (weights 1/seconds²): sizes span decades, and unweighted squares would
/// see the largest ones only. An alpha that noise makes negative becomes 0, and the slope is fitted again.
/// Throws Error (not_here) for fewer than two sizes, a time that is not positive, or times that do not grow.
[[nodiscard]] AlphaBetaFit fit_alpha_beta(std::span<const TimePoint> points);

}  // namespace collbench::analysis
