#pragma once
#include <optional>
#include <span>
#include <vector>

namespace collbench {

/// Median of `values` (mean of the two middle ones when even). Precondition: not empty.
[[nodiscard]] double median(std::vector<double> values);

/// The same, and `values` are in another order then.
[[nodiscard]] double reordering_median(std::span<double> values);

/// The p-quantile by the nearest-rank rule (0 < p ≤ 1), as nccl-tests and OSU use it. Precondition: not
/// empty.
[[nodiscard]] double quantile(std::vector<double> values, double p);

[[nodiscard]] double mean(std::span<const double> values);

/// Standard deviation over mean (n − 1 in the denominator); 0 for fewer than two values or a mean of 0.
[[nodiscard]] double coefficient_of_variation(std::span<const double> values);

/// How far something may be from the median of its kind: the larger of six robust standard deviations
/// (1.4826 × the median absolute deviation) and 1 %. NaNs are ignored. As logarithm of time or rate.
/// `widening` times the deviations, where few values know them badly.
[[nodiscard]] double population_line(const std::vector<double>& values, double widening = 1);

struct MedianInterval {
  double low = 0;
  double high = 0;
  double confidence =
      0;  ///< what these order statistics cover of independent values, at least what was asked
};

/// The exact, distribution-free interval for the median from order statistics l and n+1−l, where l is the
/// largest with P(Bin(n, ½) < l) ≤ (1 − confidence)/2. None when n is too small for it (n < 6 at 95 %).
/// Source: Hoefler & Belli, SC'15, §3.1.3, with the exact binomial instead of its normal approximation.
[[nodiscard]] std::optional<MedianInterval> median_interval(std::vector<double> values,
                                                            double confidence = 0.95);

/// The same of values in the order of time, which need not be independent: where those near each other are
/// alike, n of them tell as much as n/τ, τ = autocorrelation_time. So the order statistics are √τ times as
/// far from the middle, at most the lowest and the highest. Just median_interval where τ is 1.
[[nodiscard]] std::optional<MedianInterval> median_interval_in_time(std::vector<double> values,
                                                                    double confidence = 0.95);

/// Standard deviations of the two parts of a variance.
struct VarianceParts {
  double within = 0;   ///< of values of one group
  double between = 0;  ///< of the groups' true means
};

/// From the mean squares of a one-way analysis of variance (groups of unequal size; a negative estimate is
/// 0). None of fewer than two groups, and where no group has two values. Source: Searle, Casella & McCulloch,
/// Variance Components (1992), §3.6.
[[nodiscard]] std::optional<VarianceParts> variance_parts(const std::vector<std::vector<double>>& groups);

/// How likely values in random order follow each other as smoothly as these do: near 0 where neighbors are
/// alike, as where something drifted. Rank version of von Neumann's ratio, lower tail, by its normal
/// approximation, which says a larger probability than the exact one for few values. None of fewer than 8
/// values, and where all are equal. Source: Bartels, The Rank Version of von Neumann's Ratio Test for
/// Randomness, JASA 77 (1982), §2.
[[nodiscard]] std::optional<double> probability_of_smooth_order(std::span<const double> values);

/// As many values in a row tell as much as one would in random order: 1 + 2 Σ ρ of all lags, from 1 (random
/// order, fewer than 3 values, all equal) to as many as there are. ρ: correlation of ranks, less what random
/// order has on the average. Summed while pairs of lags are positive, each at most its predecessor. Source:
/// Geyer, Practical Markov Chain Monte Carlo, Statistical Science 7 (1992), §3.3 (initial monotone sequence).
[[nodiscard]] double autocorrelation_time(std::span<const double> values);

}  // namespace collbench
