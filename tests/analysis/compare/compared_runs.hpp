#pragma once
#include <cstdint>
#include <vector>

#include "base/record/run.hpp"
#include "base/statistics.hpp"

namespace collbench::analysis {

/// A row by its size, and the time of each of its launches.
struct RowTimes {
  std::uint64_t size_bytes;
  std::vector<double> launch_seconds;
};

/// A run of two ranks with AllReduces of these times, one pass to a launch.
inline Run run_of_rows(const std::vector<RowTimes>& rows) {
  Run run;
  run.ranks = {{.rank = 0, .host = "n0", .node = 0, .local_rank = 0},
               {.rank = 1, .host = "n0", .node = 0, .local_rank = 1}};
  for (const RowTimes& times : rows) {
    Measurement& measurement = run.rows.emplace_back().measurement;
    measurement.key.size_bytes = times.size_bytes;
    measurement.key.count = times.size_bytes;
    measurement.key.reduction = Reduction::sum;
    measurement.pass_seconds = times.launch_seconds;
    measurement.launch_passes.assign(times.launch_seconds.size(), 1);
    measurement.seconds = median(times.launch_seconds);
  }
  return run;
}

}  // namespace collbench::analysis
