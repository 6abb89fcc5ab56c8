// The simulator's side of launch/real_machine.hpp: hosts are described by the platform file, not by this
// machine.
#include "launch/real_machine.hpp"

#include <simgrid/s4u/Barrier.hpp>

namespace collbench::launch {

LocalMachineView view_machine() {
  LocalMachineView view;
  view.program_id = "simulated";
  return view;
}

bool time_is_simulated() { return true; }

Terminal view_terminal(int /*descriptor*/, bool /*launched*/) { return {}; }

CpuTimes view_cpu_times() { return {}; }

std::optional<CoreSeconds> view_core_seconds() { return std::nullopt; }

std::optional<std::uint64_t> view_page_faults() { return std::nullopt; }  // the ranks share a process

void leave_binding() {}

std::string hwloc_version() { return "not used"; }

std::function<void()> exact_barrier(Ranks& ranks) {
  // The ranks share a process, so that rank 0's barrier is everybody's; it lives as long as the simulation.
  simgrid::s4u::BarrierPtr barrier;
  if (ranks.is_root()) barrier = simgrid::s4u::Barrier::create(static_cast<unsigned>(ranks.size()));
  simgrid::s4u::Barrier* const shared = broadcast_value(ranks, barrier.get());
  if (!ranks.is_root()) barrier = simgrid::s4u::BarrierPtr(shared);
  // Nobody goes on, and rank 0 not away, before all hold it.
  barrier->wait();
  return [barrier] { barrier->wait(); };
}

}  // namespace collbench::launch
