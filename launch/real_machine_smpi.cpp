// The simulator's side of launch/real_machine.hpp: hosts are described by the platform file, not by this
// machine.
#include "launch/real_machine.hpp"

namespace collbench {

MachineView view_machine() {
  return {.allowed_cores = {}, .online_cores = 0, .available_memory_bytes = 0, .program_id = "simulated"};
}

Terminal view_terminal(int /*descriptor*/) { return {}; }

std::string hwloc_version() { return "not used"; }

}  // namespace collbench
