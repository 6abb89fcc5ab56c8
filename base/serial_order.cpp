#include "base/serial_order.hpp"

#include <algorithm>
#include <boost/math/distributions/normal.hpp>
#include <cmath>
#include <cstddef>
#include <vector>

namespace collbench {
namespace {

constexpr std::size_t kFewest = 8;

/// Equal values share the mean of their ranks.
std::vector<double> ranks_of(std::span<const double> values) {
  std::vector<double> ordered(values.begin(), values.end());
  std::sort(ordered.begin(), ordered.end());
  std::vector<double> ranks;
  for (const double value : values) {
    const auto [first, last] = std::equal_range(ordered.begin(), ordered.end(), value);
    ranks.push_back(static_cast<double>((first - ordered.begin()) + (last - ordered.begin()) + 1) / 2);
  }
  return ranks;
}

}  // namespace

std::optional<double> probability_of_smooth_order(std::span<const double> values) {
  if (values.size() < kFewest) return std::nullopt;
  const std::vector<double> ranks = ranks_of(values);
  const auto n = static_cast<double>(values.size());
  double steps = 0;
  double spread = 0;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    if (i > 0) steps += (ranks[i] - ranks[i - 1]) * (ranks[i] - ranks[i - 1]);
    spread += (ranks[i] - (n + 1) / 2) * (ranks[i] - (n + 1) / 2);
  }
  if (spread == 0) return std::nullopt;
  const double variance = 4 * (n - 2) * (5 * n * n - 2 * n - 9) / (5 * n * (n + 1) * (n - 1) * (n - 1));
  return boost::math::cdf(boost::math::normal(2, std::sqrt(variance)), steps / spread);
}

}  // namespace collbench
