#pragma once
#include <cstddef>
#include <functional>
#include <vector>

#include "base/clock.hpp"
#include "collectives/compute/core_work.hpp"
#include "tools/probe/processor/processor_cores.hpp"

namespace collbench::collectives {

/// When a probe's work is timed: `windows` windows of `window_seconds`, one after the other, after a warm-up
/// in which clocks settle and pages are touched.
struct ProbeTiming {
  double warm_up_seconds = 0.5;
  double window_seconds = 0.4;
  int windows = 5;
};

/// What a core did.
struct CoreRates {
  std::vector<double> windows;  ///< per second of the clock
  /// Of the time of the windows together, how much the thread ran, by the kernel's count of its CPU time. The
  /// rest went to other processes, a CPU quota, or the kernel; what the core's other hardware thread did is
  /// not in it.
  double cpu_share = 1;
};

/// A thread on each of `cores`, which makes its work (`make_work` of the core's index, so that the memory is
/// the core's own) and does it over and over, all at the same time. By core. Throws Error (not_here) where a
/// core cannot be used or gets no thread, and what `make_work` throws.
[[nodiscard]] std::vector<CoreRates> run_on_cores(const std::vector<ProbeCore>& cores, const Clock& clock,
                                                  const ProbeTiming& timing,
                                                  const std::function<CoreWork(std::size_t core)>& make_work);

}  // namespace collbench::collectives
