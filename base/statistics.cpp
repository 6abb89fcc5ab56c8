#include "base/statistics.hpp"

#include <algorithm>
#include <boost/math/distributions/binomial.hpp>
#include <cmath>
#include <cstddef>
#include <numeric>

namespace collbench {

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

double quantile(std::vector<double> values, double p) {
  const auto rank = static_cast<std::size_t>(std::ceil(p * static_cast<double>(values.size())));
  const std::size_t index = std::clamp<std::size_t>(rank, 1, values.size()) - 1;
  const auto chosen = values.begin() + static_cast<std::ptrdiff_t>(index);
  std::nth_element(values.begin(), chosen, values.end());
  return *chosen;
}

double mean(std::span<const double> values) {
  if (values.empty()) return 0;
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double coefficient_of_variation(std::span<const double> values) {
  const double average = mean(values);
  if (values.size() < 2 || average == 0) return 0;
  double squares = 0;
  for (const double value : values) squares += (value - average) * (value - average);
  return std::sqrt(squares / static_cast<double>(values.size() - 1)) / average;
}

std::optional<MedianInterval> median_interval(std::vector<double> values, double confidence) {
  const auto n = values.size();
  if (n == 0) return std::nullopt;
  const boost::math::binomial_distribution<double> heads(static_cast<double>(n), 0.5);
  const double tail = (1 - confidence) / 2;
  std::size_t l = 0;  // P(Bin < l) = cdf(l − 1)
  while (l < n / 2 && boost::math::cdf(heads, static_cast<double>(l)) <= tail) ++l;
  if (l == 0) return std::nullopt;
  std::sort(values.begin(), values.end());
  return MedianInterval{.low = values[l - 1],
                        .high = values[n - l],
                        .confidence = 1 - 2 * boost::math::cdf(heads, static_cast<double>(l - 1))};
}

}  // namespace collbench
