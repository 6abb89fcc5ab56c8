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

/// How much of a value its neighbour in time tells: the correlation of the ranks of neighbours, less what few
/// values in random order have on the average (−1/n); from 0 to 0.9. 0 of fewer than 3 values, and where all
/// are equal.
[[nodiscard]] double neighbour_correlation(std::span<const double> values);

}  // namespace collbench
