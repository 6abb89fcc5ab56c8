#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/record/nccl_selection.hpp"
#include "base/record/operation.hpp"

namespace collbench::collectives {

/// An operation for which NCCL chooses an algorithm.
struct SimulatedCall {
  OperationId operation = OperationId::all_reduce;
  std::uint64_t size_bytes = 0;  ///< as in the size column
};

/// Ranks of a libnccl over simulated GPUs (docs/gpu.md).
struct SimulatedJob {
  std::string library;                ///< libnccl; empty: the one that a run takes
  std::vector<std::string> node_xml;  ///< by node: its topology as NCCL_TOPO_FILE has it
  int ranks_per_node = 1;
  int nodes_per_domain =
      1;  ///< that NVLink joins, where the NCCL has been seen to work so (kMinMnnvlVersion)
  std::vector<std::pair<std::string, std::string>> settings;  ///< of NCCL, on all ranks
  std::vector<SimulatedCall> calls;
  double limit_seconds = 300;
  /// Told every tenth of a second how far the ranks are: "4 of 16 ranks are connected".
  std::function<void(const std::string&)> progress = [](const std::string&) {};
};

struct SimulatedCallResult {
  std::optional<NcclSelection> selection;  ///< by the observer; none where NCCL has no place for it
  std::string log;                         ///< what NCCL wrote meanwhile
};

struct SimulatedRun {
  std::string library;                     ///< the file
  int version = 0;                         ///< major × 10000 + minor × 100 + patch
  std::vector<std::string> logs;           ///< by rank: NCCL_DEBUG=INFO of INIT, GRAPH, TUNING and NET
  std::vector<SimulatedCallResult> calls;  ///< as asked for
};

/// Whether NCCL chooses an algorithm for it: AllReduce, AllGather, ReduceScatter, Broadcast and Reduce.
[[nodiscard]] bool nccl_chooses_for(OperationId operation);

/// From here on NCCL is shown NVLink domains of several nodes: seen with 2.27.7, 2.28.9, 2.30.7
/// and 2.32.3. 2.18.3 refuses one, and 2.21.5 and 2.23.4 fail on gb200-nvl72 either way; between 2.23
/// and 2.27 none was tried.
inline constexpr int kMinMnnvlVersion = 22700;

/// Throws Error (usage) where so many simulated ranks need more memory than is free. `domain_ranks`: of them
/// in one NVLink domain of several nodes; 0: there is none.
void require_simulated_memory(std::size_t ranks, std::size_t domain_ranks = 0);

/// Starts the ranks as processes, each with the library and a simulated CUDA, makes a communicator, issues
/// the calls and ends them. Nothing is measured, no data move, and nothing stays on this machine. Throws
/// Error: not_here when the library cannot be used so, or a rank dies or takes too long; usage with NCCL's
/// own words when it refuses the machine, and where the ranks need more memory than is free.
[[nodiscard]] SimulatedRun run_simulated(const SimulatedJob& job);

}  // namespace collbench::collectives
