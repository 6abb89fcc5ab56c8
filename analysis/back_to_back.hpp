#pragma once
#include "analysis/round_clock.hpp"

namespace collbench {

/// Seconds of one operation among many that follow each other without a pause, as rows are measured. `lap`
/// puts the rounds of one operation on `clock`. A rooted operation holds nobody but its root to the common
/// pace: ranks run ahead, and one operation begins before the last one has ended everywhere. The first laps
/// are the start.
template <typename Lap>
[[nodiscard]] double seconds_back_to_back(RoundClock& clock, const Lap& lap) {
  constexpr int kLaps = 8;
  for (int i = 0; i < kLaps; ++i) lap();
  const double before = clock.seconds();
  for (int i = 0; i < kLaps; ++i) lap();
  return (clock.seconds() - before) / kLaps;
}

}  // namespace collbench
