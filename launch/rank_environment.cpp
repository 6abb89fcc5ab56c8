#include "launch/rank_environment.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "base/error.hpp"
#include "base/text_input.hpp"
#include "base/units.hpp"

namespace collbench::launch {

namespace {

/// The part of LocalMachineView that is numbers, as it travels.
struct MachineFigures {
  int online_cores = 0;
  int nvidia_devices = 0;
  std::uint64_t available_memory_bytes = 0;
};

std::size_t index(int value) { return static_cast<std::size_t>(value); }

/// Throws when `value` of some rank differs from rank 0's.
template <typename Value>
void require_same(const std::vector<RankEnvironment>& environments, const Identities& identities,
                  const std::string& what, Value value) {
  std::map<std::string, std::vector<int>> odd_ranks;  // by host
  std::size_t odd = environments.size();
  for (std::size_t rank = environments.size(); rank-- > 0;) {
    if (value(environments[rank]) == value(environments[0])) continue;
    odd_ranks[identities[rank].host].push_back(identities[rank].rank);
    odd = rank;
  }
  if (odd_ranks.empty()) return;
  std::vector<std::string> names;
  for (auto& [host, ranks] : odd_ranks) {
    std::ranges::sort(ranks);
    names.push_back(
        fmt::format("{} {} on {}", ranks.size() == 1 ? "rank" : "ranks", number_ranges(ranks), host));
  }
  throw Error(ExitStatus::not_here, fmt::format("{}", fmt::join(names, ", ")),
              fmt::format("a different {} than rank 0 on {} ({}; there, {})", what, identities[0].host,
                          value(environments[odd]), value(environments[0])),
              "start the same build with the same arguments on all hosts");
}

Error bad_map(std::string_view text, const std::string& what) {
  return usage_error("--node-map", fmt::format("'{}' {}", text, what),
                     "list the ranks of each node, with commas between nodes: 0-7,8-15 or 0+2,1+3");
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

std::optional<int> parse_rank(std::string_view text) {
  const auto rank = whole_number<int>(text);
  return rank && *rank >= 0 ? rank : std::nullopt;
}

}  // namespace

std::vector<RankEnvironment> gather_rank_environments(Ranks& ranks, const RankEnvironment& mine) {
  const std::vector<MachineFigures> figures =
      all_gather_values(ranks, MachineFigures{.online_cores = mine.machine.online_cores,
                                              .nvidia_devices = mine.machine.nvidia_devices,
                                              .available_memory_bytes = mine.machine.available_memory_bytes});
  const std::vector<std::vector<int>> allowed_cores = all_gather_spans(ranks, mine.machine.allowed_cores);
  const std::vector<std::string> program_ids = ranks.all_gather(mine.machine.program_id);
  const std::vector<std::string> library_versions = ranks.all_gather(mine.library_version);
  const std::vector<std::string> arguments = ranks.all_gather(mine.arguments);
  std::vector<RankEnvironment> environments;
  for (std::size_t rank = 0; rank < figures.size(); ++rank) {
    environments.push_back({.machine = {.allowed_cores = allowed_cores[rank],
                                        .online_cores = figures[rank].online_cores,
                                        .available_memory_bytes = figures[rank].available_memory_bytes,
                                        .nvidia_devices = figures[rank].nvidia_devices,
                                        .program_id = program_ids[rank]},
                            .library_version = library_versions[rank],
                            .arguments = arguments[rank]});
  }
  return environments;
}

void require_same_programs(const std::vector<RankEnvironment>& environments, const Identities& identities) {
  require_same(environments, identities, "MPI library",
               [](const RankEnvironment& environment) { return environment.library_version; });
  require_same(environments, identities, "collbench program",
               [](const RankEnvironment& environment) { return environment.machine.program_id; });
  require_same(environments, identities, "command line",
               [](const RankEnvironment& environment) { return environment.arguments; });
}

bool all_have_gpus(const std::vector<RankEnvironment>& environments, const Identities& identities) {
  std::set<std::string> with;
  std::set<std::string> without;
  for (std::size_t rank = 0; rank < environments.size(); ++rank) {
    (environments[rank].machine.nvidia_devices > 0 ? with : without).insert(identities[rank].host);
  }
  if (with.empty() || without.empty()) return !with.empty();
  throw Error(ExitStatus::not_here, fmt::format("{}", fmt::join(without, ", ")),
              fmt::format("no NVIDIA GPU, but {} has one", fmt::join(with, ", ")),
              "start it on hosts that all have GPUs, or add --backend mpi to measure host memory");
}

std::vector<int> cores_per_node(const std::vector<RankEnvironment>& environments,
                                const Identities& identities) {
  std::vector<std::set<int>> cores(index(node_count(identities)));
  for (std::size_t rank = 0; rank < environments.size(); ++rank) {
    const auto& allowed = environments[rank].machine.allowed_cores;
    cores[index(identities[rank].node)].insert(allowed.begin(), allowed.end());
  }
  std::vector<int> counts;
  for (const auto& node : cores) {
    if (node.empty()) return {};
    counts.push_back(static_cast<int>(node.size()));
  }
  return counts;
}

std::uint64_t memory_per_rank(const std::vector<RankEnvironment>& environments,
                              const Identities& identities) {
  const std::vector<int> ranks = ranks_per_node(identities);
  std::uint64_t least = 0;
  for (std::size_t rank = 0; rank < environments.size(); ++rank) {
    const std::uint64_t share = environments[rank].machine.available_memory_bytes /
                                static_cast<std::uint64_t>(ranks[index(identities[rank].node)]);
    if (share != 0 && (least == 0 || share < least)) least = share;
  }
  return least;
}

std::vector<std::string> environment_notes(const std::vector<RankEnvironment>& environments,
                                           const Identities& identities, bool launched, bool inside_slurm) {
  std::vector<std::string> notes;
  if (environments.size() == 1 && !launched && inside_slurm) {
    notes.emplace_back(
        "started without a launcher inside a Slurm allocation: one rank runs, and the other nodes sit idle; "
        "start it with mpirun, or srun --mpi=pmix (collbench launch prints the command)");
  } else if (environments.size() == 1 && !launched) {
    notes.emplace_back(
        "one rank, started without mpirun: no data is communicated; start it with mpirun -np N");
  }
  const std::vector<int> ranks = ranks_per_node(identities);
  const std::vector<int> cores = cores_per_node(environments, identities);
  std::map<std::size_t, std::size_t> first_rank_of;
  for (std::size_t rank = 0; rank < identities.size(); ++rank)
    first_rank_of.try_emplace(index(identities[rank].node), rank);
  for (std::size_t node = 0; node < cores.size(); ++node) {
    if (ranks[node] <= cores[node]) continue;
    const std::string& host = identities[first_rank_of[node]].host;
    const int online = environments[first_rank_of[node]].machine.online_cores;
    if (online >= ranks[node]) {
      notes.push_back(
          fmt::format("{}: {} ranks are bound to {} of {} cores (oversubscribed): times show the scheduler, "
                      "not the communication; {}",
                      host, ranks[node], cores[node], online,
                      inside_slurm ? "add --cpu-bind=none to srun, or --bind-to none to mpirun where that "
                                     "starts the ranks"
                                   : "add --bind-to none to mpirun"));
    } else {
      notes.push_back(
          fmt::format("{}: {} ranks on {} core{}: times show the scheduler, not the communication; "
                      "start at most {} rank{} there",
                      host, ranks[node], cores[node], cores[node] == 1 ? "" : "s", cores[node],
                      cores[node] == 1 ? "" : "s"));
    }
  }
  return notes;
}

std::vector<int> parse_node_map(std::string_view text, int ranks) {
  std::vector<int> node_of(static_cast<std::size_t>(ranks), -1);
  int node = 0;
  for (const std::string_view members : split(text, ',')) {
    for (const std::string_view range : split(members, '+')) {
      const auto ends = split(range, '-');
      const auto first = parse_rank(ends.front());
      const auto last = parse_rank(ends.back());
      if (ends.size() > 2 || !first || !last || *first > *last)
        throw bad_map(text, fmt::format("has '{}', which is neither a rank nor a range of ranks", range));
      if (*last >= ranks) {
        throw bad_map(text,
                      fmt::format("names rank {}, but there {}", *last,
                                  ranks == 1 ? "is rank 0 alone"
                                             : fmt::format("are {} ranks (0 to {})", ranks, ranks - 1)));
      }
      for (int rank = *first; rank <= *last; ++rank) {
        if (std::exchange(node_of[static_cast<std::size_t>(rank)], node) != -1) {
          throw bad_map(text, fmt::format("names rank {} twice", rank));
        }
      }
    }
    ++node;
  }
  const auto missing = std::ranges::find(node_of, -1);
  if (missing != node_of.end()) {
    throw bad_map(text, fmt::format("leaves out rank {} of {}", missing - node_of.begin(), ranks));
  }
  return node_of;
}

Identities discover_identities(Ranks& ranks, const std::string& host, int shared_memory_leader,
                               const std::optional<std::vector<int>>& node_map) {
  const std::vector<std::string> hosts = ranks.all_gather(host);
  const std::vector<int> leaders = all_gather_values(ranks, shared_memory_leader);
  std::map<int, int> node_of_key;
  std::map<int, int> next_local;
  Identities identities;
  for (int rank = 0; rank < ranks.size(); ++rank) {
    const auto at = static_cast<std::size_t>(rank);
    const int key = node_map ? node_map->at(at) : leaders[at];
    const int node = node_of_key.try_emplace(key, static_cast<int>(node_of_key.size())).first->second;
    identities.push_back({.rank = rank,
                          .host = node_map ? fmt::format("{}#{}", hosts[at], node) : hosts[at],
                          .node = node,
                          .local_rank = next_local[node]++});
  }
  return identities;
}

}  // namespace collbench::launch
