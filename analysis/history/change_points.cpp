#include "analysis/history/history.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <optional>

#include "base/statistics.hpp"

namespace collbench::analysis {
namespace {

using Values = std::vector<double>;

/// The clearest place to part values [begin, end) in two levels, and how clear it is.
struct Part {
  std::size_t at = 0;
  double p = 1;
};

/// Of K in n values.
double pettitt_p(double k, double n) { return std::min(1.0, 2 * std::exp(-6 * k * k / (n * n * n + n * n))); }

/// U of Pettitt for a part before `t`: over all pairs (i < t ≤ j) the sign of value j − value i.
std::optional<Part> clearest_part(const Values& values, std::size_t begin, std::size_t end) {
  const std::size_t count = end - begin;
  if (count < 2 * kMinLevel) return std::nullopt;
  const auto sign = [](double x) { return x > 0 ? 1L : x < 0 ? -1L : 0L; };
  long u = 0;  // moving value t over the border adds its sign against all others
  long largest = 0;
  std::size_t at = 0;
  for (std::size_t t = begin; t + 1 < end; ++t) {
    for (std::size_t other = begin; other < end; ++other) u += sign(values[other] - values[t]);
    const std::size_t first = t + 1;
    if (first - begin < kMinLevel || end - first < kMinLevel || std::labs(u) <= largest) continue;
    largest = std::labs(u);
    at = first;
  }
  if (at == 0) return std::nullopt;
  return Part{at, pettitt_p(static_cast<double>(largest), static_cast<double>(count))};
}

double median_of(const Values& values, std::size_t begin, std::size_t end) {
  return median({values.begin() + static_cast<std::ptrdiff_t>(begin),
                 values.begin() + static_cast<std::ptrdiff_t>(end)});
}

void segment(const Values& values, std::size_t begin, std::size_t end, const ChangeOptions& options,
             std::vector<ChangePoint>& found) {
  const auto part = clearest_part(values, begin, end);
  if (!part || part->p > options.significance) return;
  const double ratio = median_of(values, part->at, end) / median_of(values, begin, part->at);
  if (std::abs(std::log(ratio)) < std::log1p(options.min_change)) return;
  segment(values, begin, part->at, options, found);
  found.push_back({part->at, ratio, part->p});
  segment(values, part->at, end, options, found);
}

}  // namespace

std::size_t values_to_see_a_change(double significance) {
  constexpr std::size_t kMaxValues = 10'000;
  std::size_t count = 2 * kMinLevel;
  // K is largest where two levels of equal length do not overlap: every pair has the same sign.
  const auto p_of_largest = [](std::size_t values) {
    const std::size_t half = values / 2;
    return pettitt_p(static_cast<double>(half * (values - half)), static_cast<double>(values));
  };
  while (count < kMaxValues && p_of_largest(count) > significance) ++count;
  return count;
}

std::vector<ChangePoint> change_points(const std::vector<double>& values, const ChangeOptions& options) {
  std::vector<ChangePoint> found;
  segment(values, 0, values.size(), options, found);
  // A level ends where the next begins: the ratios are of neighbors, which are known only now.
  for (std::size_t i = 0; i < found.size(); ++i) {
    const std::size_t before = i == 0 ? 0 : found[i - 1].at;
    const std::size_t end = i + 1 == found.size() ? values.size() : found[i + 1].at;
    found[i].ratio = median_of(values, found[i].at, end) / median_of(values, before, found[i].at);
  }
  return found;
}

}  // namespace collbench::analysis
