#pragma once
#include <optional>
#include <span>

namespace collbench {

/// How likely values in random order follow each other as smoothly as these do: near 0 where neighbours are
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
