#include "analysis/models/alpha_beta_fit.hpp"

#include <Eigen/Dense>
#include <algorithm>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <limits>
#include <string>

#include "base/error.hpp"

namespace collbench::analysis {
namespace {

Error cannot_fit(const std::string& why) {
  return {ExitStatus::not_here, "fit of alpha and bandwidth", why,
          "Measure at least two sizes that differ by more than the noise"};
}

void require_fittable(std::span<const TimePoint> points) {
  const auto [least, most] = std::ranges::minmax_element(
      points, [](const TimePoint& left, const TimePoint& right) { return left.bytes < right.bytes; });
  if (points.empty() || least->bytes == most->bytes) throw cannot_fit("fewer than two sizes");
  for (const TimePoint& point : points) {
    if (!(point.seconds > 0)) throw cannot_fit("a time that is not positive");
  }
}

/// Intervals from the covariance s²(XᵀX)⁻¹ of weighted least squares, `scaled` being X with columns of one
/// length. Source: Draper and Smith, Applied Regression Analysis, 3rd ed., §5.1 and §9.2.
void add_intervals(AlphaBetaFit& fit, const Eigen::MatrixX2d& scaled, const Eigen::Vector2d& lengths,
                   double squared_residuals) {
  const auto freedom = static_cast<double>(scaled.rows() - 2);
  const double t = boost::math::quantile(boost::math::students_t(freedom), 0.975);
  const Eigen::Matrix2d covariance = (scaled.transpose() * scaled).inverse() * (squared_residuals / freedom);
  const Eigen::Vector2d half = t * covariance.diagonal().cwiseSqrt().cwiseQuotient(lengths);
  fit.alpha_interval = FitInterval{std::max(0.0, fit.alpha_seconds - half[0]), fit.alpha_seconds + half[0]};
  const double slope = 1 / fit.bytes_per_second;
  fit.rate_interval =
      FitInterval{1 / (slope + half[1]),
                  slope > half[1] ? 1 / (slope - half[1]) : std::numeric_limits<double>::infinity()};
}

}  // namespace

AlphaBetaFit fit_alpha_beta(std::span<const TimePoint> points) {
  require_fittable(points);
  // Divided by its own time, each point says 1 = alpha/t + bytes/t · beta, and all weigh the same.
  const auto rows = static_cast<Eigen::Index>(points.size());
  Eigen::MatrixX2d terms(rows, 2);
  for (Eigen::Index i = 0; i < rows; ++i) {
    const TimePoint& point = points[static_cast<std::size_t>(i)];
    terms.row(i) << 1 / point.seconds, point.bytes / point.seconds;
  }
  const Eigen::VectorXd ones = Eigen::VectorXd::Ones(rows);
  // Microseconds and nanoseconds per byte differ by orders of magnitude: columns of one length keep the
  // decomposition exact.
  const Eigen::Vector2d lengths = terms.colwise().norm();
  const Eigen::MatrixX2d scaled = terms * lengths.cwiseInverse().asDiagonal();
  Eigen::Vector2d solution = scaled.colPivHouseholderQr().solve(ones).cwiseQuotient(lengths);
  const bool alpha_at_zero = solution[0] < 0;
  if (alpha_at_zero) solution << 0, terms.col(1).dot(ones) / terms.col(1).squaredNorm();
  if (!(solution[1] > 0)) throw cannot_fit("times that do not grow with the size");

  const Eigen::VectorXd fitted = terms * solution;  // fit/point, so that residuals are relative
  const double mean_seconds = terms.col(0).sum() / terms.col(0).squaredNorm();
  const double deviation = (terms.col(0) * mean_seconds - ones).squaredNorm();
  AlphaBetaFit fit{.alpha_seconds = solution[0],
                   .bytes_per_second = 1 / solution[1],
                   .r_squared = 1 - (fitted - ones).squaredNorm() / deviation,
                   .max_relative_error = (fitted - ones).cwiseAbs().maxCoeff()};
  if (rows > 2 && !alpha_at_zero) add_intervals(fit, scaled, lengths, (fitted - ones).squaredNorm());
  return fit;
}

std::optional<double> crossover_bytes(const AlphaBetaFit& earlier, const AlphaBetaFit& later) {
  const double faster_by = 1 / earlier.bytes_per_second - 1 / later.bytes_per_second;  // seconds per byte
  const double bytes = (later.alpha_seconds - earlier.alpha_seconds) / faster_by;
  if (!(faster_by > 0) || !(bytes > 0) || !std::isfinite(bytes)) return std::nullopt;
  return bytes;
}

}  // namespace collbench::analysis
