#include "base/clock.hpp"

#include <algorithm>

namespace collbench {

ClockOffset clock_offset(std::span<const ClockSample> samples) {
  const ClockSample& quickest = *std::min_element(
      samples.begin(), samples.end(),
      [](const ClockSample& a, const ClockSample& b) { return a.heard - a.asked < b.heard - b.asked; });
  return {.seconds = quickest.answered - (quickest.asked + quickest.heard) / 2,
          .uncertainty_seconds = (quickest.heard - quickest.asked) / 2};
}

}  // namespace collbench
