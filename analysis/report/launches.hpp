#pragma once
#include <optional>
#include <vector>

#include "analysis/report/sections.hpp"
#include "base/record/run.hpp"

namespace collbench::analysis {

/// Several launches of one measurement as one run. A row's time is the median of the launches' times, and its
/// interval is over them: a launch is a factor of its own, so the interval of one says nothing of others
/// (docs/statistics.md). Figures that need all samples (minimum to p99, per-rank times, expectations) are
/// medians over the launches that have them. Rows are those of the first launch. Precondition: at least one
/// launch, all of the same rows.
[[nodiscard]] Run merged_launches(const std::vector<Run>& launches);

/// Half the width of the widest interval of a row, as a fraction of its time, and the row's index. Infinite
/// while there is a row that ran and has no interval; none when no row ran.
struct WidestInterval {
  double relative_half_width = 0;
  std::size_t row = 0;
};
[[nodiscard]] std::optional<WidestInterval> widest_interval(const Run& run);

/// What a single launch cannot know of itself: which rows of a resumed run span several; how far launches of
/// a repetition differ; and whether the machine drifted under them, so that their interval holds for that
/// time only.
[[nodiscard]] ReportLines launch_lines(const Run& run);

}  // namespace collbench::analysis
