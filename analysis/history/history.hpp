#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "analysis/history/change_points.hpp"
#include "base/record/run.hpp"

namespace collbench::analysis {

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
