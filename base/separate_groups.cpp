#include "base/separate_groups.hpp"

#include <algorithm>
#include <cmath>
#include <span>

namespace collbench {
namespace {

constexpr double kMinFactor = 1.2;
constexpr double kMinGapOverWidth = 0.5;
constexpr std::size_t kMinValues = 5;
constexpr double kMinShare = 0.05;

using SortedLogs = std::span<const double>;

/// Of the middle 80 %.
double width(SortedLogs logs) {
  const std::size_t tail = logs.size() / 10;
  return logs[logs.size() - 1 - tail] - logs[tail];
}

/// The first value behind the widest gap that divides `logs`; 0 where none does.
std::size_t divided_at(SortedLogs logs, std::size_t min_values) {
  std::size_t best = 0;
  double widest = std::log(kMinFactor);
  for (std::size_t at = min_values; at + min_values <= logs.size(); ++at) {
    const double gap = logs[at] - logs[at - 1];
    if (gap < widest) continue;
    if (gap < kMinGapOverWidth * std::max(width(logs.first(at)), width(logs.subspan(at)))) continue;
    widest = gap;
    best = at;
  }
  return best;
}

void add_boundaries(SortedLogs logs, std::size_t min_values, std::vector<double>& boundaries) {
  const std::size_t at = divided_at(logs, min_values);
  if (at == 0) return;
  add_boundaries(logs.first(at), min_values, boundaries);
  boundaries.push_back(std::exp((logs[at - 1] + logs[at]) / 2));
  add_boundaries(logs.subspan(at), min_values, boundaries);
}

}  // namespace

std::vector<double> group_boundaries(std::vector<double> values) {
  std::erase_if(values, [](double value) { return !(value > 0); });
  for (double& value : values) value = std::log(value);
  std::sort(values.begin(), values.end());
  const auto share = static_cast<std::size_t>(std::ceil(kMinShare * static_cast<double>(values.size())));
  std::vector<double> boundaries;
  add_boundaries(values, std::max(kMinValues, share), boundaries);
  return boundaries;
}

std::size_t group_of(double value, const std::vector<double>& boundaries) {
  return static_cast<std::size_t>(std::upper_bound(boundaries.begin(), boundaries.end(), value) -
                                  boundaries.begin());
}

}  // namespace collbench
