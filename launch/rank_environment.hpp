#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "base/record/identities.hpp"
#include "launch/ranks.hpp"
#include "launch/real_machine.hpp"

namespace collbench::launch {

/// What one rank runs on, and what it was started as.
struct RankEnvironment {
  LocalMachineView machine;
  std::string library_version;
  std::string arguments;  ///< of the command line, without the program's name
};

/// Every rank's, by rank, on every rank. Collective.
[[nodiscard]] std::vector<RankEnvironment> gather_rank_environments(Ranks& ranks,
                                                                    const RankEnvironment& mine);

/// Throws Error (not_here) that names the hosts when programs, MPI libraries or their arguments differ
/// between ranks.
void require_same_programs(const std::vector<RankEnvironment>& environments, const Identities& identities);

/// Whether a run that was told no backend is one on GPUs: all hosts show an NVIDIA GPU. Throws Error
/// (not_here) that names the hosts when only some do: neither is then what the user means.
[[nodiscard]] bool all_have_gpus(const std::vector<RankEnvironment>& environments,
                                 const Identities& identities);

/// Cores that the ranks of each node may use together, by node; empty when unknown.
[[nodiscard]] std::vector<int> cores_per_node(const std::vector<RankEnvironment>& environments,
                                              const Identities& identities);

/// Memory per rank that every node can still give, in bytes; 0 when unknown.
[[nodiscard]] std::uint64_t memory_per_rank(const std::vector<RankEnvironment>& environments,
                                            const Identities& identities);

/// What makes the numbers mean less than they seem to: one line each, with its consequence and the cure.
[[nodiscard]] std::vector<std::string> environment_notes(const std::vector<RankEnvironment>& environments,
                                                         const Identities& identities, bool launched,
                                                         bool inside_slurm);

}  // namespace collbench::launch
