#pragma once
#include <optional>

#include "collectives/engine/backend.hpp"

namespace collbench::collectives {

/// The probes of the machine in a run, and what they cost it. Each stands behind a block, whose label it is:
/// cores that have not just worked together answer as in another state.
class BackendProbes {
 public:
  explicit BackendProbes(Backend& backend) : backend_(backend) {}

  /// Whether the next block, `elapsed` seconds into the run, is to have a probe of its own. Asked on rank 0.
  [[nodiscard]] bool is_due(double elapsed) const { return seconds_ <= kShare * elapsed; }

  /// Collective.
  [[nodiscard]] std::optional<MachineProbe> probe() {
    const double before = backend_.clock().seconds();
    last_ = backend_.probe_machine();
    seconds_ += backend_.clock().seconds() - before;
    return last_;
  }

  /// For blocks that follow so closely that a probe of each would cost too much.
  [[nodiscard]] std::optional<MachineProbe> last() const { return last_; }

 private:
  static constexpr double kShare = 0.015;  // of the wall time

  Backend& backend_;
  double seconds_ = 0;
  std::optional<MachineProbe> last_;
};

}  // namespace collbench::collectives
