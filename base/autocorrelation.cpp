#include "base/autocorrelation.hpp"

#include <algorithm>
#include <boost/math/distributions/normal.hpp>
#include <cmath>
#include <cstddef>
#include <vector>

namespace collbench {
namespace {

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
struct CentredRanks {
  std::vector<double> ranks;
  double squares = 0;  ///< their sum
};

CentredRanks centred_ranks(std::span<const double> values) {
  CentredRanks centred{.ranks = ranks_of(values)};
  for (double& rank : centred.ranks) {
    rank -= (static_cast<double>(values.size()) + 1) / 2;
    centred.squares += rank * rank;
  }
  return centred;
}

/// Of values that are `lag` apart. Centred ranks in random order have −(n − lag)/(n(n − 1)) on the average.
double correlation_at(const CentredRanks& centred, std::size_t lag) {
  if (lag == 0) return 1;
  const std::vector<double>& ranks = centred.ranks;
  double products = 0;
  for (std::size_t i = lag; i < ranks.size(); ++i) products += ranks[i] * ranks[i - lag];
  const auto n = static_cast<double>(ranks.size());
  return products / centred.squares + (n - static_cast<double>(lag)) / (n * (n - 1));
}

}  // namespace

std::optional<double> probability_of_smooth_order(std::span<const double> values) {
  if (values.size() < kMinCount) return std::nullopt;
  const auto [ranks, squares] = centred_ranks(values);
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
  const CentredRanks centred = centred_ranks(values);
  if (centred.squares == 0) return 1;
  double sum = 0;
  double before = 2;
  for (std::size_t lag = 0; lag + 1 < std::min(count, kMaxLags); lag += 2) {
    const double pair = correlation_at(centred, lag) + correlation_at(centred, lag + 1);
    if (pair <= 0) break;
    before = std::min(before, pair);
    sum += before;
  }
  return std::clamp(2 * sum - 1, 1.0, static_cast<double>(count));
}

}  // namespace collbench
