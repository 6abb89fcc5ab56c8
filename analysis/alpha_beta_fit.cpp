#include "analysis/alpha_beta_fit.hpp"

#include <Eigen/Dense>
#include <algorithm>
#include <string>

#include "base/error.hpp"

namespace collbench {
namespace {

Error cannot_fit(const std::string& why) {
  return {ExitStatus::not_here, "fit of alpha and bandwidth", why,
          "Measure at least two sizes that differ by more than the noise"};
}

void require_fittable(std::span<const TimePoint> points) {
  const auto [least, most] = std::minmax_element(
      points.begin(), points.end(),
      [](const TimePoint& left, const TimePoint& right) { return left.bytes < right.bytes; });
  if (points.empty() || least->bytes == most->bytes) throw cannot_fit("fewer than two sizes");
  for (const TimePoint& point : points) {
    if (!(point.seconds > 0)) throw cannot_fit("a time that is not positive");
  }
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
  if (solution[0] < 0) solution << 0, terms.col(1).dot(ones) / terms.col(1).squaredNorm();
  if (!(solution[1] > 0)) throw cannot_fit("times that do not grow with the size");

  const Eigen::VectorXd fitted = terms * solution;  // fit/point, so that residuals are relative
  const double mean_seconds = terms.col(0).sum() / terms.col(0).squaredNorm();
  const double deviation = (terms.col(0) * mean_seconds - ones).squaredNorm();
  return {.alpha_seconds = solution[0],
          .bytes_per_second = 1 / solution[1],
          .r_squared = 1 - (fitted - ones).squaredNorm() / deviation,
          .largest_relative_error = (fitted - ones).cwiseAbs().maxCoeff()};
}

}  // namespace collbench
