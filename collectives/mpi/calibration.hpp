#pragma once
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "base/record/calibration.hpp"
#include "base/record/identities.hpp"
#include "launch/ranks.hpp"

namespace collbench {

/// Measures what the host-memory models are fed with, on all ranks at once (docs/model.md): messages within
/// and across hosts, MPI_Reduce_local for each of `reductions`, memcpy; from 8 B (4 KiB for the last two) to
/// 16 MiB. A point is the median of nine blocks, each the slowest rank's. Collective; the same points on
/// every rank. In `simulated` time nothing varies: a point is one message, and local work takes no time.
[[nodiscard]] std::vector<CalibrationPoint> measure_calibration(
    Ranks& ranks, const Clock& clock, const Identities& identities,
    const std::vector<std::pair<DataType, Reduction>>& reductions, bool simulated);

}  // namespace collbench
