#pragma once
#include <atomic>
#include <span>
#include <string>
#include <vector>

#include "collectives/nccl/loader/nccl_library.hpp"
#include "tools/nccl_plan/simulated_run/simulated_run.hpp"

namespace collbench::collectives {

/// What the ranks of a simulated run share: memory that they inherit.
struct SimulatedMeeting {
  std::atomic<bool> has_id{false};
  NcclUniqueId id{};
  std::atomic<int> connected{0};      ///< ranks whose communicator is there
  std::atomic<int> calls{0};          ///< that rank 0 has issued
  std::atomic<int> first_failed{-1};  ///< the rank that failed first; what others say follows from that
};

/// A rank of a simulated run, before its process does anything with CUDA.
struct SimulatedRank {
  int rank = 0;
  int node = 0;
  int log_file = -1;     ///< NCCL writes it
  int report_file = -1;  ///< what this rank has to say at its end: JSON
};

/// Loads the libnccl of the job, or the first candidate of a run, with the simulated CUDA in its place, and
/// names it in COLLBENCH_NCCL. Returns the file of the simulated CUDA. Throws Error (not_here) with the
/// reason of the first, and for one that is older than NcclLibrary takes.
[[nodiscard]] std::string load_simulated_libraries(const std::string& library);

/// The variables of the environment that say where NCCL is and what its network is: they stand for the host
/// of the user, and are taken away from the ranks.
[[nodiscard]] std::span<const char* const> variables_of_real_hosts();

/// Keeps NCCL off this host's own network: in the environment of whoever runs over simulated GPUs.
void set_simulated_network();

/// The whole life of a rank's process: communicator, calls, report. Returns its exit status.
[[nodiscard]] int run_simulated_rank(const SimulatedJob& job, const std::string& simulated_cuda,
                                     const SimulatedRank& own, const std::vector<int>& node_files,
                                     SimulatedMeeting& meeting);

}  // namespace collbench::collectives
