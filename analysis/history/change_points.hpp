#pragma once
#include <cstddef>
#include <vector>

namespace collbench::analysis {

/// Where a series went to another level.
struct ChangePoint {
  std::size_t at = 0;  ///< index of the first value of the new level
  double ratio = 0;    ///< median of the new level over that of the level before
  double p = 0;        ///< of a change as clear as this by chance, by Pettitt's test

  bool operator==(const ChangePoint&) const = default;
};

struct ChangeOptions {
  double significance = 0.05;  ///< of one series; of many rows divide it by their number (Bonferroni)
  double min_change = 0.03;    ///< of the median: less is no change worth a night's sleep
};

/// A level has at least so many values: what one night does is no level.
inline constexpr std::size_t kMinLevel = 4;

/// The changes of level of `values` (positive, in the order of time), in order. Binary segmentation by
/// Pettitt's test (A. N. Pettitt, A non-parametric approach to the change-point problem, Applied Statistics
/// 28 (1979) 126-135): of ranks alone, so that a few wild nights decide nothing, p ≈ 2 exp(−6 K² / (n³ +
/// n²)). It takes values for independent: a machine that stays in one of several states for days makes levels
/// of them. With p ≤ 0.05, two levels that do not overlap are seen from 11 values on; with 0.05 / 10, from 17
/// on.
[[nodiscard]] std::vector<ChangePoint> change_points(const std::vector<double>& values,
                                                     const ChangeOptions& options);

/// How many values a series needs for any change to be found in it: fewer cannot show one, whatever they are.
/// 11 at 0.05; at most 10,000, which is never reached.
[[nodiscard]] std::size_t values_to_see_a_change(double significance);

}  // namespace collbench::analysis
