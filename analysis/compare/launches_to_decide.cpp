#include "analysis/compare/comparison.hpp"

#include <algorithm>
#include <boost/math/distributions/normal.hpp>
#include <cmath>

namespace collbench::analysis {
namespace {

constexpr double kSameConfidence = 0.95;  // of the interval that SAME is read from
constexpr double kMinLaunches = 3;        // below, a spread is hardly one

double two_sided_quantile(double error) {
  return boost::math::quantile(boost::math::complement(boost::math::normal(), error / 2));
}

/// Launches of each side after which half the interval of a log ratio is within `margin`; above the maximum
/// where none is.
double launches_within(double margin, double standard_deviation, double quantile) {
  if (!(margin > 0)) return kMaxLaunchesToDecide + 1;
  const double wanted = quantile * standard_deviation / margin;
  return std::max(kMinLaunches, std::ceil(2 * wanted * wanted) + 1);
}

}  // namespace

int launches_to_decide(const OpenRow& row) {
  const double effect = std::abs(row.log_ratio);
  const double allowance = std::log1p(row.sitting_allowance);
  const double beyond = effect - allowance;
  const double below = std::log1p(row.same_within) - allowance - effect;
  if (!(beyond > 0) && !(below > 0)) return 0;
  const double changed = launches_within(
      beyond, row.standard_deviation, two_sided_quantile(row.significance / static_cast<double>(row.rows)));
  const double same = launches_within(below, row.standard_deviation, two_sided_quantile(1 - kSameConfidence));
  return static_cast<int>(std::min({changed, same, static_cast<double>(kMaxLaunchesToDecide)}));
}

}  // namespace collbench::analysis
