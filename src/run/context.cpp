#include "src/run/context.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.hpp"
#include "base/files.hpp"
#include "launch/agreement.hpp"
#include "launch/identities.hpp"
#include "launch/launcher.hpp"
#include "launch/rank_environment.hpp"

namespace collbench::program {

TrafficMatrix find_traffic(const RunOptions& options, const RunContext& place, launch::Ranks& ranks) {
  if (options.counts_path.empty()) return traffic_by_distance(ranks.size());
  TrafficMatrix traffic;
  launch::agreed(ranks, place.host, [&] {
    if (!ranks.is_root()) return;
    traffic = parse_traffic_matrix(read_file(options.counts_path), options.counts_path);
    if (traffic.ranks == ranks.size()) return;
    throw usage_error(
        "--counts",
        fmt::format("{} is for {} ranks, and there are {}", options.counts_path, traffic.ranks, ranks.size()),
        fmt::format("start {} ranks, or give {} lines of {} numbers", traffic.ranks, ranks.size(),
                    ranks.size()));
  });
  traffic.source = options.counts_path;
  traffic.ranks = ranks.size();
  traffic.weights.resize(static_cast<std::size_t>(ranks.size()) * static_cast<std::size_t>(ranks.size()));
  ranks.broadcast(std::as_writable_bytes(std::span(traffic.weights)), 0);
  return traffic;
}

std::vector<std::string> RunContext::hosts() const {
  std::vector<std::string> names;
  for (const Identity& identity : identities) names.push_back(identity.host);
  return names;
}

namespace {

void refuse_what_needs_gpus(const RunOptions& options) {
  if (options.graph_launches > 0) {
    throw Error(ExitStatus::not_here, "-G", "there are no CUDA graphs on host memory", "leave -G out");
  }
  if (options.loop.enqueue_time) {
    throw Error(ExitStatus::not_here, "--enqueue-time",
                "an MPI call returns when it is done, so on host memory its host time is the time",
                "leave --enqueue-time out");
  }
}

}  // namespace

RunContext make_run_context(const RunOptions& options, const launch::MpiSession& session) {
  launch::Ranks& ranks = session.ranks();
  RunContext place;
  place.host = session.host();
  const int leader = session.shared_memory_leader();
  // Cores and memory belong to the machines there really are, whatever --node-map says of them.
  place.machines = launch::discover_identities(ranks, place.host, leader, std::nullopt);
  // Before anything that depends on the options: ranks that were told different things would wait forever.
  const std::vector<std::string> arguments(options.command_line.begin() + 1, options.command_line.end());
  const std::vector<launch::RankEnvironment> places = launch::gather_rank_environments(
      ranks, {.machine = launch::view_machine(),
              .library_version = launch::MpiSession::library_version(),
              .arguments = fmt::format("{}{}", fmt::join(arguments, " "), options.config.text)});
  launch::require_same_programs(places, place.machines);
  place.identities = place.machines;
  if (!options.node_map.empty()) {
    place.identities = launch::discover_identities(ranks, place.host, leader,
                                                   launch::parse_node_map(options.node_map, ranks.size()));
  }
  place.on_gpus =
      options.backend == "auto" ? launch::all_have_gpus(places, place.machines) : options.backend == "nccl";
  if (!place.on_gpus) refuse_what_needs_gpus(options);
  place.cores_per_node = launch::cores_per_node(places, place.machines);
  place.memory_per_rank_bytes = launch::memory_per_rank(places, place.machines);
  place.notes = launch::environment_notes(places, place.machines, options.launched, launch::inside_slurm());
  if (!options.node_map.empty()) {
    place.notes.push_back(fmt::format("--node-map is in effect: ranks are grouped as {} nodes, but run on {}",
                                      node_count(place.identities), node_count(place.machines)));
  }
  return place;
}

}  // namespace collbench::program
