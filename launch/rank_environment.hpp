#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
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

/// Reads --node-map: nodes separated by commas, each a list of ranks or ranges joined by "+": "0-7,8-15" or
/// "0+2,1+3". Gives the node of every rank. Throws Error (usage) unless each of `ranks` ranks stands in it
/// exactly once.
[[nodiscard]] std::vector<int> parse_node_map(std::string_view text, int ranks);

/// Who is where. Collective. `shared_memory_leader` tells nodes apart unless `node_map` (node by rank)
/// overrides it; then hosts are named HOST#NODE.
[[nodiscard]] Identities discover_identities(Ranks& ranks, const std::string& host, int shared_memory_leader,
                                             const std::optional<std::vector<int>>& node_map);

}  // namespace collbench::launch
