// The simulator's side of collectives/mpi/machine_prober.hpp.
#include "collectives/mpi/machine_prober.hpp"

namespace collbench::collectives {

struct MachineProber::Handles {};

MachineProber::MachineProber(const Clock& /*clock*/) {}
MachineProber::~MachineProber() = default;

MachineProbe MachineProber::probe() { return {}; }

}  // namespace collbench::collectives
