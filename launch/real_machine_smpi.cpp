// The simulator's side of launch/real_machine.hpp: hosts are described by the platform file, not by this
// machine.
#include "launch/real_machine.hpp"

#include <array>
#include <simgrid/s4u/Actor.hpp>

namespace collbench::launch {

LocalMachineView view_machine() {
  LocalMachineView view;
  view.program_id = "simulated";
  return view;
}

bool time_is_simulated() { return true; }

Terminal view_terminal(int /*descriptor*/, bool /*launched*/) { return {}; }

CpuTimes view_cpu_times() { return {}; }

std::optional<std::uint64_t> view_page_faults() { return std::nullopt; }  // the ranks share a process

std::string hwloc_version() { return "not used"; }

void align_barrier_exit(Ranks& ranks, double now_seconds) {
  std::array<double, 1> last{now_seconds};
  ranks.reduce(last, RankAggregate::maximum);
  // Later than anybody leaves the reduction, which takes simulated microseconds.
  constexpr double kSeconds = 10e-3;
  simgrid::s4u::this_actor::sleep_until(last[0] + kSeconds);
}

}  // namespace collbench::launch
