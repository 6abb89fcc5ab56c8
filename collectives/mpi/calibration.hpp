#pragma once
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "base/record/identities.hpp"
#include "collectives/mpi/calibration_tasks.hpp"
#include "launch/ranks.hpp"

namespace collbench::collectives {

/// What the rows of a run need to know.
struct CalibrationRequest {
  std::vector<std::pair<DataType, Reduction>> reductions;
  std::uint64_t max_bytes = 0;  ///< that any row sends at once, reduces or copies
  double seconds = 5;           ///< after which only the ends of curves that are missing are measured, once
  bool simulated = false;
  std::function<void()> before_point = [] {};  ///< called on every rank
};

/// Measures what the host-memory models are fed with, on all ranks at once (docs/model.md): messages within
/// and across hosts, MPI_Reduce_local for each of the reductions, memcpy; from 8 B (4 KiB for the last two)
/// to the rows' largest size, at least 1 MiB and at most 16 MiB; and a page fault. A point is the median of
/// three to nine blocks, each the slowest rank's. The ends of each curve come first, and what is between them
/// as time allows; points that the others contradict (disturbed_points) are measured again. Collective; the
/// same points on every rank. In simulated time nothing varies: a point is one message, and local work takes
/// no time.
[[nodiscard]] MeasuredCalibration measure_calibration(launch::Ranks& ranks, const Clock& clock,
                                                      const Identities& identities,
                                                      const CalibrationRequest& request);

}  // namespace collbench::collectives
