#pragma once
#include <algorithm>

#include "analysis/host_algorithm.hpp"
#include "analysis/round_clock.hpp"

namespace collbench {

/// Seconds of S in segments along the chain of hops in `chain`, among many that follow each other without a
/// pause: then a chain takes what its slowest hop takes, and filling it costs nothing. The quickest segment
/// of 4 KiB × 4^k, or all of S; every rank does `work_seconds(segment)` for each segment that it gets.
/// J. Pješivac-Grbović et al., "Performance Analysis of MPI Collective Operations", Cluster Computing 10,
/// 2007, has the pipeline of a single operation.
template <typename Work>
[[nodiscard]] double pipeline_seconds(const HostCall& call, const Round& chain, const RoundClock& start,
                                      const Work& work_seconds) {
  const auto with_segment = [&](double segment) {
    RoundClock clock = start;
    const auto repeat = [&] {
      clock.repeat(chain, segment, work_seconds(segment), 2 * call.ranks());
      return clock.seconds();
    };
    const double filled = repeat();
    return (repeat() - filled) / (2 * call.ranks()) * (call.size_bytes / segment);
  };
  double quickest = with_segment(call.size_bytes);
  for (double segment = 4096; segment < call.size_bytes; segment *= 4) {
    quickest = std::min(quickest, with_segment(segment));
  }
  return quickest;
}

}  // namespace collbench
