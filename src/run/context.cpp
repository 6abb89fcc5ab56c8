#include "src/run/context.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "base/error.hpp"
#include "base/files.hpp"
#include "base/secrets/secrets.hpp"
#include "base/units.hpp"
#include "launch/agreement.hpp"
#include "launch/launcher.hpp"
#include "launch/rank_environment.hpp"
#include "launch/real_machine.hpp"
#include "src/cli/version.hpp"
#include "src/run/run_end.hpp"
#include "topology/machines/resolve.hpp"

namespace collbench::program {

namespace {

/// Eight bytes for each pair of 2,896 ranks.
constexpr std::size_t kMaxTrafficBytes = std::size_t{64} << 20U;

TrafficMatrix read_traffic(launch::OnRoot /*root*/, const std::string& path, int ranks) {
  TrafficMatrix traffic = parse_traffic_matrix(read_file(path, kMaxTrafficBytes), path);
  if (traffic.ranks == ranks) return traffic;
  throw usage_error(
      "--counts", fmt::format("{} is for {}, and there are {}", path, counted(traffic.ranks, "rank"), ranks),
      fmt::format("start as many, or give {} lines of {} numbers", ranks, ranks));
}

void refuse_what_needs_gpus(const RunOptions& options) {
  struct OfGpus {
    bool is_asked;
    std::string option;
    const char* reason;
    const char* next_step;
  };
  const std::array<OfGpus, 8> all{
      {{options.process.gpus > 1, "--gpus-per-process, --threads",
        "host memory is measured, where each rank is a process", "leave them out; -g N starts N processes"},
       {options.graph_launches > 0, "-G", "there are no CUDA graphs on host memory", "leave -G out"},
       {!options.nccl_config.empty(), "--nccl-config", "host memory is measured, and NCCL has no part in it",
        "leave it and -x out"},
       {options.call_wait != collectives::CallWait::none, "-z",
        "an MPI call returns when it is complete on its rank: each is waited for", "leave -z out"},
       {options.registration != BufferRegistration::none, fmt::format("-R {}", name(options.registration)),
        "there is no NCCL to register host memory with", "leave -R out"},
       {options.memory_use, "-M", "it reports GPU memory, and host memory is measured", "leave -M out"},
       {options.hot, "--hot", "calls on host memory always repeat on the same addresses", "leave --hot out"},
       {options.loop.enqueue_time, "--enqueue-time",
        "an MPI call returns when it is complete, so on host memory its enqueue time would be its time",
        "leave --enqueue-time out"}}};
  for (const OfGpus& each : all)
    if (each.is_asked) throw Error(ExitStatus::not_here, each.option, each.reason, each.next_step);
}

/// All hosts with GPUs: they are what is measured.
collectives::MemoryKind memory_by_machines(const std::vector<launch::RankEnvironment>& environments,
                                           const Identities& machines) {
  return launch::all_have_gpus(environments, machines) ? collectives::MemoryKind::device
                                                       : collectives::MemoryKind::host;
}

/// Throws, before anything is started, where the machine that is expected is not known, and where it has GPUs
/// and none is to be seen: whatever is measured would be of another one.
void require_expected_machine(const RunOptions& options, const RunContext& context,
                              const std::vector<launch::RankEnvironment>& environments,
                              launch::Ranks& ranks) {
  // stdin can be read once; this machine is looked at later, and not twice.
  if (options.expect.empty() || options.expect == "-" || options.expect == topology::kLiveMachine) return;
  const bool measures_gpus = !options.dry_run && options.memory != collectives::MemoryKind::host;
  const auto on_root = launch::agree_on_root(ranks, context.host, [&](launch::OnRoot) -> std::size_t {
    const topology::ResolvedMachine expected = topology::resolve_machine(options.expect);
    const bool has_any =
        std::ranges::any_of(environments, [](const auto& each) { return each.machine.nvidia_devices > 0; });
    return measures_gpus && !has_any ? expected.only_host().gpus.size() : 0;
  });
  const std::size_t gpus = launch::broadcast_value(ranks, on_root.value_or(0));
  launch::agreed(ranks, context.host, [&] {
    if (gpus == 0) return;
    throw Error(
        ExitStatus::not_here, "--expect " + options.expect,
        fmt::format("it has {}, and {} shows none", counted(gpus, "GPU"), context.machines.front().host),
        "was the container started with its GPUs (docker run --gpus all)? nvidia-smi -L has to list "
        "them; --backend mpi measures host memory");
  });
}

/// Without --rank, which alone may differ between ranks.
std::vector<std::string> common_arguments(const std::vector<std::string>& command_line) {
  std::vector<std::string> words;
  for (std::size_t i = 1; i < command_line.size(); ++i) {
    if (command_line[i] == "--rank") {
      ++i;  // and its number
    } else if (!command_line[i].starts_with("--rank=")) {
      words.push_back(command_line[i]);
    }
  }
  return words;
}

Error host_memory_without_mpi(const launch::Rendezvous& at) {
  return {ExitStatus::not_here, at.by,
          at.has_launcher ? "it started ranks without MPI, and only MPI measures host memory"
                          : "its ranks have no MPI, and only MPI measures host memory",
          launch::inside_slurm()
              ? "use srun --mpi=pmix, or mpirun inside salloc or sbatch; --backend nccl where there are GPUs"
              : "start collbench with mpirun (collbench launch writes the line), or by itself with -g N; "
                "--backend nccl where there are GPUs"};
}

}  // namespace

TrafficMatrix find_traffic(const RunOptions& options, const std::string& host, launch::Ranks& ranks) {
  if (options.counts_path.empty()) {
    // On every rank it holds as many numbers as there are pairs of ranks.
    const std::vector<OperationId>& asked = options.request.operations;
    const bool moves = std::ranges::find(asked, OperationId::all_to_all_v) != asked.end();
    return moves ? traffic_by_distance(ranks.size()) : TrafficMatrix{};
  }
  const auto on_root = launch::agree_on_root(ranks, host, [&](launch::OnRoot root) {
    return read_traffic(root, options.counts_path, ranks.size());
  });
  TrafficMatrix traffic = on_root.value_or(TrafficMatrix{});
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

Run empty_run(const RunOptions& options, const RunContext& context, const collectives::Backend& backend) {
  Run run;
  run.versions = versions();
  run.versions.mpi = context.library;
  run.started = utc_now();
  run.command_line = recorded_words(options.command_line);
  run.environment = options.environment;
  run.config_file = options.config.path;
  run.label = recorded_words({options.label}).front();
  backend.describe(run);
  run.buffers.exact_counts = options.request.buffers.exact_counts;
  run.buffers.unaligned_elements = options.request.buffers.unaligned_elements;
  run.time_reduction = options.loop.across_ranks;
  run.simulated = launch::time_is_simulated();
  run.ranks = context.identities;
  run.process = context.process;
  run.cores_per_node = context.cores_per_node;
  run.environment_notes = context.notes;
  return run;
}

RunContext make_run_context(const RunOptions& options, const launch::Session& session) {
  launch::Ranks& ranks = session.ranks();
  RunContext context;
  context.process = options.process;
  context.host = session.host();
  context.library = session.library();
  const int leader = session.shared_memory_leader();
  // Cores and memory belong to the machines there really are, whatever --node-map says of them.
  context.machines = launch::discover_identities(ranks, context.host, leader, std::nullopt);
  // Before anything that depends on the options: ranks that were told different things would wait forever.
  const std::vector<std::string> arguments = common_arguments(options.command_line);
  launch::LocalMachineView machine;
  launch::agreed(ranks, context.host, [&] { machine = launch::view_machine(); });
  const std::vector<launch::RankEnvironment> environments = launch::gather_rank_environments(
      ranks, {.machine = std::move(machine),
              .library_version = session.library(),
              .arguments = fmt::format("{}{}", fmt::join(arguments, " "), options.config.text)});
  std::optional<std::vector<int>> node_map;
  launch::agreed(ranks, context.host, [&] {
    launch::require_same_programs(environments, context.machines);
    if (!options.node_map.empty()) node_map = launch::parse_node_map(options.node_map, ranks.size());
    context.memory = options.memory ? *options.memory : memory_by_machines(environments, context.machines);
    if (context.memory == collectives::MemoryKind::host) {
      refuse_what_needs_gpus(options);
      if (!session.has_mpi()) throw host_memory_without_mpi(*options.rendezvous);
    }
  });
  require_expected_machine(options, context, environments, ranks);
  context.identities =
      node_map ? launch::discover_identities(ranks, context.host, leader, node_map) : context.machines;
  context.cores_per_node = launch::cores_per_node(environments, context.machines);
  for (const launch::RankEnvironment& environment : environments)
    context.allowed_cores.push_back(environment.machine.allowed_cores);
  context.host_memory_per_rank_bytes = launch::memory_per_rank(environments, context.machines);
  context.notes =
      launch::environment_notes(environments, context.machines, options.launched, launch::inside_slurm());
  if (std::string note = process_note(options.process); !note.empty())
    context.notes.push_back(std::move(note));
  if (!options.node_map.empty()) {
    context.notes.push_back(fmt::format("--node-map is in effect: ranks are grouped as {}, but run on {}",
                                        counted(node_count(context.identities), "node"),
                                        node_count(context.machines)));
  }
  return context;
}

}  // namespace collbench::program
