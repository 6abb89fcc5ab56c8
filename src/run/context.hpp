#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "base/record/identities.hpp"
#include "base/record/run.hpp"
#include "base/record/traffic_matrix.hpp"
#include "collectives/engine/backend.hpp"
#include "launch/ranks.hpp"
#include "launch/session.hpp"
#include "src/run/options.hpp"

namespace collbench::program {

struct RunContext {
  std::string host;       ///< of this rank
  Identities machines;    ///< by the machines that there really are
  Identities identities;  ///< with --node-map in force
  std::vector<int> cores_per_node;
  std::vector<std::vector<int>> allowed_cores;  ///< that each rank may run on, by rank
  ProcessShape process;
  std::vector<std::string> notes;
  std::string library;                           ///< that connects the ranks (Session::library)
  std::uint64_t host_memory_per_rank_bytes = 0;  ///< 0: unknown
  /// What is measured: MPI on host memory, or NCCL on that of GPUs.
  collectives::MemoryKind memory = collectives::MemoryKind::host;

  [[nodiscard]] std::vector<std::string> hosts() const;
};

/// Gathers it. Collective. Throws Error on all ranks for a bad --node-map, for programs that differ between
/// hosts, and when only some hosts have GPUs and no backend was asked for.
[[nodiscard]] RunContext make_run_context(const RunOptions& options, const launch::Session& session);

/// The record before anything is known but what runs where: it starts now.
[[nodiscard]] Run empty_run(const RunOptions& options, const RunContext& context,
                            const collectives::Backend& backend);

/// What AllToAllv moves: as the file of --counts says, which rank 0 alone reads, or by distance; without
/// --counts empty where no AllToAllv is asked for. `host` is this rank's. Collective. Throws the same Error
/// on all ranks for a file that cannot be read, or is for another number of ranks.
[[nodiscard]] TrafficMatrix find_traffic(const RunOptions& options, const std::string& host,
                                         launch::Ranks& ranks);

}  // namespace collbench::program
