#pragma once
#include <string_view>

namespace collbench::topology {

/// Why a job failed, as NCCL, a plugin of it, CUDA or Open MPI write it into the job's log.
enum class LoggedError {
  shared_memory,      ///< a segment of shared memory cannot be made or opened
  no_interface,       ///< no network interface for the bootstrap
  connection,         ///< a rank cannot connect to another by TCP
  ranks_disagree,     ///< what a rank sent makes no sense to another
  gpu_twice,          ///< two ranks on one GPU
  port_error,         ///< an RDMA port went down while the job ran
  queue_pair,         ///< the NIC refuses a step of connecting to the other NIC
  device_denied,      ///< an RDMA device that is there cannot be opened
  no_provider,        ///< a libfabric plugin without a network
  many_peers,         ///< more peers than one process may map
  fabric_not_ready,   ///< CUDA error 802
  gpu_memory,         ///< NCCL's buffers do not fit the GPU
  old_driver,         ///< CUDA error 35
  no_numa_placement,  ///< memory cannot be placed on NUMA nodes
};

/// Whether the line of a log says so, by the words of the program that writes it.
[[nodiscard]] bool says(std::string_view line, LoggedError error);

/// Whether it says any of these.
[[nodiscard]] bool says_any_error(std::string_view line);

}  // namespace collbench::topology
