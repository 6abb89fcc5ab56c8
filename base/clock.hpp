#pragma once
#include <algorithm>
#include <chrono>
#include <span>

namespace collbench {

/// The one source of measured time: MPI_Wtime, which is simulated time under SimGrid; SteadySeconds where MPI
/// does not connect the ranks; a counter in tests.
class Clock {
 public:
  virtual ~Clock() = default;
  /// Seconds since an arbitrary moment, the same for all reads on one rank.
  [[nodiscard]] virtual double seconds() const = 0;
};

/// This machine's, by any thread.
class SteadySeconds : public Clock {
 public:
  [[nodiscard]] double seconds() const override {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
  }
};

/// A question to another clock and its answer, by both clocks, in seconds.
struct ClockSample {
  double asked = 0;     ///< by this clock
  double answered = 0;  ///< by the other
  double heard = 0;     ///< by this clock
};

/// How far the other clock is ahead of this one.
struct ClockOffset {
  double seconds = 0;
  double uncertainty_seconds = 0;  ///< it is at most so far off, if clocks run alike in between
};

/// From the quickest question: the answer lies between its ends, wherever (Cristian, Distributed Computing 3,
/// 1989). Precondition: at least one sample.
[[nodiscard]] inline ClockOffset clock_offset(std::span<const ClockSample> samples) {
  const ClockSample& quickest = *std::ranges::min_element(
      samples,
      [](const ClockSample& a, const ClockSample& b) { return a.heard - a.asked < b.heard - b.asked; });
  return {.seconds = quickest.answered - (quickest.asked + quickest.heard) / 2,
          .uncertainty_seconds = (quickest.heard - quickest.asked) / 2};
}

}  // namespace collbench
