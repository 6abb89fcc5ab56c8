#pragma once
#include <span>

namespace collbench {

/// `bytes` took `seconds`.
struct TimePoint {
  double bytes = 0;
  double seconds = 0;
};

/// time = alpha + bytes / bytes_per_second.
struct AlphaBetaFit {
  double alpha_seconds = 0;
  double bytes_per_second = 0;
  double r_squared = 0;               ///< 1 − Σ(relative residual)² / Σ(relative deviation from the mean)²
  double largest_relative_error = 0;  ///< largest |fit/point − 1|
};

/// Least squares on the relative error (weights 1/seconds²): sizes span decades, and unweighted squares would
/// see the largest ones only. An alpha that noise makes negative becomes 0, and the slope is fitted again.
/// Throws Error (not_here) for fewer than two sizes, a time that is not positive, or times that do not grow.
[[nodiscard]] AlphaBetaFit fit_alpha_beta(std::span<const TimePoint> points);

}  // namespace collbench
