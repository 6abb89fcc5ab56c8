#pragma once
#include <cstddef>
#include <functional>
#include <vector>

#include "base/clock.hpp"
#include "collectives/probe/processor_cores.hpp"

namespace collbench::collectives {

/// When a probe's work is timed: `windows` windows of `window_seconds`, one after the other, after a warm-up
/// in which clocks settle and pages are touched.
struct ProbeTiming {
  double warm_up_seconds = 0.5;
  double window_seconds = 0.4;
  int windows = 5;
};

/// Does a piece of work and returns how much it was, in flop or bytes. A piece should be far shorter than a
/// window: one ends with the first piece that is done after its time.
using ProbeWork = std::function<double()>;

/// A thread on each of `cores`, which makes its work (`make_work` of the core's index, so that the memory is
/// the core's own) and does it over and over, all at the same time. The rates by core, then window, per
/// second of `clock`. Throws Error (not_here) where a core cannot be used, and what `make_work` throws.
[[nodiscard]] std::vector<std::vector<double>> run_on_cores(
    const std::vector<ProbeCore>& cores, const Clock& clock, const ProbeTiming& timing,
    const std::function<ProbeWork(std::size_t core)>& make_work);

}  // namespace collbench::collectives
