#pragma once
#include <memory>

#include "base/clock.hpp"
#include "base/record/machine_probe.hpp"

namespace collbench::collectives {

/// Looks at what may change the times of all rows at once, outside of every timed part. Lives between
/// MPI_Init and MPI_Finalize. The simulator's build has another implementation (machine_prober_smpi.cpp),
/// which finds nothing: there is no machine.
class MachineProber {
 public:
  /// Collective over all ranks, as is probe().
  explicit MachineProber(const Clock& clock);
  MachineProber(const MachineProber&) = delete;
  MachineProber& operator=(const MachineProber&) = delete;
  ~MachineProber();

  /// About half a millisecond where each rank has a core of its own. The worst of all ranks, on every rank.
  [[nodiscard]] MachineProbe probe();

 private:
  struct Handles;
  std::unique_ptr<Handles> handles_;
};

}  // namespace collbench::collectives
