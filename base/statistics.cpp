#include "base/statistics.hpp"

#include <algorithm>
#include <boost/math/distributions/binomial.hpp>
#include <boost/math/distributions/normal.hpp>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <numeric>
#include <utility>

namespace collbench {

namespace {

/// As median_interval, with the order statistics `times_wider` as far from the middle.
std::optional<MedianInterval> order_interval(std::vector<double> values, double confidence,
                                             double times_wider) {
  const auto n = values.size();
  if (n == 0) return std::nullopt;
  const boost::math::binomial_distribution<double> heads(static_cast<double>(n), 0.5);
  const double tail = (1 - confidence) / 2;
  std::size_t l = 0;  // P(Bin < l) = cdf(l − 1)
  while (l < n / 2 && boost::math::cdf(heads, static_cast<double>(l)) <= tail) ++l;
  if (l == 0) return std::nullopt;
  const double middle = (static_cast<double>(n) - 1) / 2;
  const double from_middle = (middle - static_cast<double>(l - 1)) * times_wider;
  const auto lowest = static_cast<std::size_t>(std::max(0.0, std::floor(middle - from_middle)));
  std::ranges::sort(values);
  return MedianInterval{.low = values[lowest],
                        .high = values[n - 1 - lowest],
                        .confidence = 1 - 2 * boost::math::cdf(heads, static_cast<double>(l - 1))};
}

constexpr std::size_t kMinCount = 8;
constexpr std::size_t kMaxLags = 256;  // so that passes without end cost no more and more

/// Equal values share the mean of their ranks.
std::vector<double> ranks_of(std::span<const double> values) {
  std::vector<double> ordered(values.begin(), values.end());
  std::ranges::sort(ordered);
  std::vector<double> ranks;
  for (const double value : values) {
    const auto [first, last] = std::equal_range(ordered.begin(), ordered.end(), value);
    ranks.push_back(static_cast<double>((first - ordered.begin()) + (last - ordered.begin()) + 1) / 2);
  }
  return ranks;
}

/// Ranks less their mean.
struct CenteredRanks {
  std::vector<double> ranks;
  double squares = 0;  ///< their sum
};

CenteredRanks centered_ranks(std::span<const double> values) {
  CenteredRanks centered{.ranks = ranks_of(values)};
  for (double& rank : centered.ranks) {
    rank -= (static_cast<double>(values.size()) + 1) / 2;
    centered.squares += rank * rank;
  }
  return centered;
}

/// Of values that are `lag` apart. Centered ranks in random order have −(n − lag)/(n(n − 1)) on the average.
double correlation_at(const CenteredRanks& centered, std::size_t lag) {
  if (lag == 0) return 1;
  const std::vector<double>& ranks = centered.ranks;
  double products = 0;
  for (std::size_t i = lag; i < ranks.size(); ++i) products += ranks[i] * ranks[i - lag];
  const auto n = static_cast<double>(ranks.size());
  return products / centered.squares + (n - static_cast<double>(lag)) / (n * (n - 1));
}

}  // namespace

double median(std::vector<double> values) { return reordering_median(values); }

double reordering_median(std::span<double> values) {
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
  return order_interval(std::move(values), confidence, 1);
}

std::optional<MedianInterval> median_interval_in_time(std::vector<double> values, double confidence) {
  const double alike = autocorrelation_time(values);
  return order_interval(std::move(values), confidence, std::sqrt(alike));
}

std::optional<VarianceParts> variance_parts(const std::vector<std::vector<double>>& groups) {
  double values = 0;
  double sum = 0;
  double sum_of_squared_sizes = 0;
  for (const std::vector<double>& group : groups) {
    const auto size = static_cast<double>(group.size());
    values += size;
    sum_of_squared_sizes += size * size;
    sum = std::accumulate(group.begin(), group.end(), sum);
  }
  const auto count = static_cast<double>(groups.size());
  if (groups.size() < 2 || values <= count) return std::nullopt;
  double squares_within = 0;
  double squares_between = 0;
  for (const std::vector<double>& group : groups) {
    const double own = mean(group);
    for (const double value : group) squares_within += (value - own) * (value - own);
    squares_between += static_cast<double>(group.size()) * (own - sum / values) * (own - sum / values);
  }
  const double mean_square_within = squares_within / (values - count);
  const double mean_square_between = squares_between / (count - 1);
  const double typical_size = (values - sum_of_squared_sizes / values) / (count - 1);
  return VarianceParts{
      .within = std::sqrt(mean_square_within),
      .between = std::sqrt(std::max(0.0, (mean_square_between - mean_square_within) / typical_size))};
}

double population_line(const std::vector<double>& values, double widening) {
  constexpr double kSigmas = 6;
  constexpr double kToSigma = 1.4826;  // of a normal distribution
  constexpr double kMinLine = 0.01;
  std::vector<double> known;
  std::ranges::copy_if(values, std::back_inserter(known), [](double value) { return !std::isnan(value); });
  if (known.empty()) return kMinLine;
  const double middle = median(known);
  for (double& value : known) value = std::fabs(value - middle);
  return std::max(kMinLine, widening * kSigmas * kToSigma * median(known));
}

std::optional<double> probability_of_smooth_order(std::span<const double> values) {
  if (values.size() < kMinCount) return std::nullopt;
  const auto [ranks, squares] = centered_ranks(values);
  if (squares == 0) return std::nullopt;
  double steps = 0;
  for (std::size_t i = 1; i < ranks.size(); ++i)
    steps += (ranks[i] - ranks[i - 1]) * (ranks[i] - ranks[i - 1]);
  const auto n = static_cast<double>(values.size());
  const double variance = 4 * (n - 2) * (5 * n * n - 2 * n - 9) / (5 * n * (n + 1) * (n - 1) * (n - 1));
  return boost::math::cdf(boost::math::normal(2, std::sqrt(variance)), steps / squares);
}

double autocorrelation_time(std::span<const double> values) {
  const std::size_t count = values.size();
  if (count < 3) return 1;
  const CenteredRanks centered = centered_ranks(values);
  if (centered.squares == 0) return 1;
  double sum = 0;
  double before = 2;
  for (std::size_t lag = 0; lag + 1 < std::min(count, kMaxLags); lag += 2) {
    const double pair = correlation_at(centered, lag) + correlation_at(centered, lag + 1);
    if (pair <= 0) break;
    before = std::min(before, pair);
    sum += before;
  }
  return std::clamp(2 * sum - 1, 1.0, static_cast<double>(count));
}

}  // namespace collbench
