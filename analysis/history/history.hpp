#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "base/record/run.hpp"

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

/// One row over all records that have it, oldest first.
struct RowTrend {
  RowKey key;
  std::vector<std::size_t> runs;  ///< indices of the records
  std::vector<double> seconds;    ///< its time in each
  std::vector<ChangePoint> changes;
};

inline constexpr double kTrendSignificance = 0.05;

/// Every row that was measured in any of `runs` (oldest first), in the order of the newest record's rows;
/// what only older ones have comes last. Of all rows together `significance` is the chance that any shows a
/// change where there is none.
[[nodiscard]] std::vector<RowTrend> row_trends(const std::vector<Run>& runs,
                                               double significance = kTrendSignificance);

/// A node of a fleet: its times, and where they are not those of the others.
struct FleetNode {
  std::string name;
  std::vector<std::optional<double>> seconds;  ///< by row of the table; none: it was not measured there
  std::vector<bool> is_odd;                    ///< by row
  double worst_ratio = 1;  ///< time over the median of all nodes, of the row where it is most
};

/// Nodes × rows, odd nodes first, the slowest of them first.
struct FleetTable {
  std::vector<RowKey> rows;
  std::vector<double> medians;  ///< over nodes, seconds
  std::vector<FleetNode> nodes;
};

/// A node is odd in a row where its time is more than `kOddRatio` off the median and further than chance
/// takes any node of a healthy fleet in any row in one of twenty tables, of at least `kMinFleet` nodes that
/// have the row. The spread is 1.4826 × the median absolute deviation (Hampel's identifier); how little that
/// is known of few nodes, and rows × nodes, are in the limit: Student's t with kMadEfficiency × (nodes − 1)
/// degrees of freedom, Bonferroni. One run per node.
[[nodiscard]] FleetTable fleet_table(const std::vector<Run>& runs);

inline constexpr double kOddRatio = 0.05;
inline constexpr std::size_t kMinFleet = 8;  ///< of fewer nodes the spread is not known

}  // namespace collbench::analysis
