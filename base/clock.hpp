#pragma once

namespace collbench {

/// The one source of measured time. The MPI backend's clock is MPI_Wtime, which is simulated time under
/// SimGrid; a test's clock is a counter. Nothing measured reads std::chrono.
class Clock {
 public:
  virtual ~Clock() = default;
  /// Seconds since an arbitrary moment, the same for all reads on one rank.
  [[nodiscard]] virtual double seconds() const = 0;
};

}  // namespace collbench
