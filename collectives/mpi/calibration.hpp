#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "base/record/calibration.hpp"
#include "base/record/identities.hpp"
#include "collectives/mpi/host_buffer.hpp"
#include "launch/ranks.hpp"

namespace collbench::collectives {

struct MeasuredCalibration {
  std::vector<CalibrationPoint> points;
  std::size_t wanted = 0;  ///< points, had there been the time
};

/// What every measurement of a calibration needs.
struct CalibrationBench {
  launch::Ranks& ranks;
  const std::function<void()>& before_point;
  const Clock& clock;
  bool simulated;
  double start;  ///< by this rank's clock
  HostBuffer from;
  HostBuffer to;
  double passed = 0;     ///< seconds since the start on the rank that is furthest, as of the last block: the
                         ///< same on all ranks, so that they can decide by it
  double point_end = 0;  ///< as of which the point at hand gets no further block
  double clock_read_seconds = 0;  ///< in simulated time: what a block of nothing takes
  bool repeating = false;         ///< what was disturbed: the shortest block counts
  [[nodiscard]] bool is_late() const { return passed > point_end; }
  /// Whether a block of so many seconds more ends in time.
  [[nodiscard]] bool has_time_for(double seconds) const { return passed + seconds <= point_end; }
};

struct CalibrationTask {
  CalibrationPoint point{};  ///< without its time
  /// Seconds of one; none where it has no price here. Collective.
  std::function<std::optional<double>(CalibrationBench&)> measure;
  /// Nothing can be expected without it.
  bool needed = true;
  int level = 0;  ///< of those that are not needed the lower ones come first
  /// Messages of `point.bytes` that one takes, one after the other.
  int messages = 1;
};

/// Marks the tasks of a curve, by size, so that however few of them there is time for, they are spread over
/// it: both ends are needed, the one in the middle is level 1, those in the middle of the halves 2, …
void spread_levels(std::span<CalibrationTask> curve);

/// Measures tasks within `seconds` since the bench's start, a tenth of which is left for what takes longer
/// than it was likely to: needed ones first, when time is up only once, and the others as time allows. Then
/// again what was disturbed (disturbed_points) and fits. Every rank decides alike, by
/// CalibrationBench::passed and the times that all have. Points are in the order of their tasks. Collective.
[[nodiscard]] MeasuredCalibration run_calibration_tasks(CalibrationBench& bench, double seconds,
                                                        const std::vector<CalibrationTask>& tasks);

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
