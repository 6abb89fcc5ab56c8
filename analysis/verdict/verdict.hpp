#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/record/run.hpp"
#include "base/units.hpp"

namespace collbench::analysis {

/// From here on a row is judged by its links; below it, waiting takes a share that no topology tells.
inline constexpr std::uint64_t kLargeSize = 64 * kMiB;

/// The rows of one operation, type, reduction, place and algorithm, by size: what a verdict is about.
using SizeSeries = std::vector<const Row*>;

/// The measured rows of a run as sweeps, in the order of their first rows.
[[nodiscard]] std::vector<SizeSeries> series_of(const std::vector<Row>& rows);

/// Measured over expected busbw, as medians over the three largest sizes of at least 64 MiB.
struct SeriesRatios {
  double to_ring = 0;        ///< the floor: the ring, or the operation's only algorithm
  double to_best = 0;        ///< the best algorithm
  double to_lower_edge = 0;  ///< of the band
  std::size_t rows = 0;      ///< that the medians are of, 1 to 3
};

/// None when no row of at least 64 MiB has a band.
[[nodiscard]] std::optional<SeriesRatios> series_ratios(const SizeSeries& series);

/// FAULT: below half of the ring. Model or rank count wrong: more than 5 % above the best algorithm. LOW:
/// with intervals, the whole interval below the band on two neighbouring sizes, or on one of at least 64 MiB;
/// without (an imported log), the median of the three largest sizes below it, and no verdict instead where
/// that is a single row: those of healthy logs dip. None without a band.
[[nodiscard]] VerdictWord verdict_of(const SizeSeries& series);

}  // namespace collbench::analysis
