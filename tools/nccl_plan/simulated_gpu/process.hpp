#pragma once
#include <optional>
#include <string>
#include <vector>

#include "tools/nccl_plan/simulated_gpu/machine.hpp"
#include "tools/nccl_plan/simulated_gpu/memory.hpp"
#include "tools/nccl_plan/simulated_gpu/stream.hpp"

namespace collbench::simulated_gpu {

/// Which host of the simulated machine this process is on, and what it sees of it.
struct SimulatedHost {
  int index = 0;
  bool named = false;           ///< whether there may be others: NCCL then gets a name for each (NCCL_HOSTID)
  std::optional<int> only_gpu;  ///< the process sees this GPU alone
};

/// What the CUDA of a process holds. There is one, as in a real process; its parts come to be when they are
/// first used, so that a process may fork before.
struct SimulatedProcess {
  SimulatedHost host;
  SimulatedMachine machine;
  std::vector<int> visible;  ///< the GPUs that CUDA shows, by their place in machine.gpus
  std::size_t memory_bytes;  ///< of each GPU, as cudaMemGetInfo says
  int runtime_version;       ///< major × 1000 + minor × 10
  MemoryBlocks blocks;
  DeviceArena arena;
  MemoryHandles handles;
  Streams streams;

  SimulatedProcess();

  /// The GPU that CUDA calls `device`; null when there is none.
  [[nodiscard]] const SimulatedGpu* gpu(int device) const;

  /// The NVLink domain that the host's GPUs share with those of other hosts: as many hosts, in their order,
  /// as COLLBENCH_SIMULATED_HOSTS_PER_DOMAIN says. Read when it is asked for, since whether an NCCL can be
  /// shown one is known when it has been loaded.
  [[nodiscard]] std::optional<int> nvlink_domain() const;
};

/// Made at the first call, which also tells NCCL of the machine by its own variables where they are not set:
/// NCCL_TOPO_FILE, NCCL_NET_PLUGIN, NCCL_HOSTID. It lives to the end of the process. What makes it fail ends
/// the process with one line and its exit status: CUDA has no words for it.
[[nodiscard]] SimulatedProcess& simulated_process();

/// The version of the runtime that the process's NCCL was built with; to be set before the first call of
/// simulated_process. 13.0 otherwise.
void set_runtime_version(int version);

/// The file that this library was loaded from.
[[nodiscard]] std::string own_file();

}  // namespace collbench::simulated_gpu
