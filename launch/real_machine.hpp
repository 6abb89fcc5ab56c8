#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "launch/ranks.hpp"

namespace collbench::launch {

/// What one rank sees of the real machine below it. The simulator's build has another implementation of this
/// file (real_machine_smpi.cpp), where nothing real is looked at.
struct LocalMachineView {
  std::vector<int>
      allowed_cores;     ///< cores that the rank may run on, each by its lowest hardware thread; sorted
  int online_cores = 0;  ///< cores of the host
  std::uint64_t available_memory_bytes =
      0;                   ///< what may still be taken on the host (cgroup limit included); 0: unknown
  int nvidia_devices = 0;  ///< as nvidia_devices() counts them; where nothing shows any, the driver's count
  std::string program_id;  ///< tells one build of this program from another
};

/// The cores are hwloc's, or the kernel's where hwloc fails or tells of another machine (HWLOC_* variables).
[[nodiscard]] LocalMachineView view_machine();

/// GPUs that the files of a machine show, with or without a driver: on its PCI bus, and where that is hidden,
/// as in some containers, those that the driver lists or has made devices for. `root` is "/" but in tests.
[[nodiscard]] int nvidia_devices(const std::filesystem::path& root);

/// Whether time is SimGrid's: then nothing varies, and one iteration tells all.
[[nodiscard]] bool time_is_simulated();

/// What a person would see of file descriptor 1 or 2 of this process: under mpirun a rank's own descriptors
/// say nothing (stdout is always a pseudo-terminal, stderr never), so mpirun's are looked at.
struct Terminal {
  bool is_terminal = false;
  int columns = 0;  ///< 0: unknown
};

/// `launched`: by a launcher, as launched_rank() says before MPI_Init.
[[nodiscard]] Terminal view_terminal(int descriptor, bool launched);

/// CPU time so far.
struct CpuTimes {
  double host_busy_seconds = 0;  ///< of all processes of the host
  double stolen_seconds = 0;     ///< that they asked for and a virtual machine's hypervisor did not give
  double own_seconds = 0;        ///< of this process
  double hardware_threads = 0;   ///< of the host; 0: nothing is known
};

[[nodiscard]] CpuTimes view_cpu_times();

/// What the main thread of this process was given so far, by /proc/self/schedstat
/// (Documentation/scheduler/sched-stats.rst).
struct CoreSeconds {
  double ran = 0;     ///< on a core
  double waited = 0;  ///< ready to run, while others had its cores
};

/// None where the kernel does not say, and where ranks share a process.
[[nodiscard]] std::optional<CoreSeconds> view_core_seconds();

/// Page faults of this process so far that needed no disk (minor faults): most are memory touched for the
/// first time since it was mapped. None where that cannot be told.
[[nodiscard]] std::optional<std::uint64_t> view_page_faults();

/// Lets this thread, and the processes that it starts, run on all processors that the host has for them
/// (cpuset), whatever the launcher bound the rank to. Where the kernel refuses, all stays as it is.
void leave_binding();

[[nodiscard]] std::string hwloc_version();

/// A barrier that all ranks leave at one moment, so that what is timed after it is the operation alone; made
/// collectively. Only in the simulator, where all clocks are one and no message is needed for it; empty on
/// real machines, whose clocks differ by more than the moments at which ranks leave MPI_Barrier.
[[nodiscard]] std::function<void()> exact_barrier(Ranks& ranks);

}  // namespace collbench::launch
