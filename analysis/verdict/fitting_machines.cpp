#include "analysis/verdict/fitting_machines.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "analysis/models/nccl/cluster_of_run.hpp"
#include "analysis/models/nccl/nic_channels.hpp"
#include "analysis/verdict/verdict.hpp"
#include "base/error.hpp"
#include "base/text_input.hpp"
#include "base/units.hpp"
#include "topology/catalog/gpus.hpp"
#include "topology/machines/reference_machines.hpp"

namespace collbench::analysis {
namespace {

/// What the log says of its network. A plugin is libfabric's, of EFA or Slingshot: NCCL does not say which.
Transport transport_in(const LogFacts& log) {
  if (log.network) {
    const std::string network = lower(log.network->value);
    if (network.find("libfabric") != std::string::npos) return Transport::plugin;
    if (network.find("fastrak") != std::string::npos) return Transport::tcpxo;
  }
  if (!log.link_layer) return Transport::unknown;
  return log.link_layer->value == "RoCE" ? Transport::roce : Transport::infiniband;
}

/// A provider's own network is no other machine's.
bool is_of_a_provider(Transport transport) {
  return traits(transport).by_libfabric || transport == Transport::tcpxo;
}

bool has_transport(const topology::ReferenceMachine& machine, Transport transport) {
  const auto sold = find_transport(machine.nic_transport, GpuGeneration::hopper).value_or(Transport::unknown);
  return sold == transport || (traits(sold).by_libfabric && traits(transport).by_libfabric);
}

int gpus_of(const topology::ReferenceMachine& machine) {
  int gpus = 0;
  for (const topology::ReferenceSwitch& group : machine.switches) gpus += group.gpus;
  return gpus;
}

bool has_gpus(const topology::ReferenceMachine& machine, const topology::GpuModel& gpu, const LogFacts& log) {
  const topology::GpuModel* model = topology::find_gpu_model(machine.gpu_model);
  if (model == nullptr || model->name != gpu.name) return false;
  // A bridge between PCIe cards is no reference machine's.
  if (log.nvlink_most_bytes_per_second && machine.wiring == topology::NvLinkWiring::none) return false;
  return !log.ranks_per_node || log.ranks_per_node->value <= gpus_of(machine);
}

/// Whether a job on several nodes may be on it.
bool has_network(const topology::ReferenceMachine& machine, const LogFacts& log) {
  if (!log.nodes || log.nodes->value == 1) return true;
  if (machine.nic_transport.empty() && machine.nvlink_domain_gpus == 0) return false;
  const Transport transport = transport_in(log);
  return !is_of_a_provider(transport) || has_transport(machine, transport);
}

/// " with such a network (a100-pcie has them without it)"; empty where none has the GPUs at all.
std::string with_other_network(const LogFacts& log) {
  const topology::GpuModel* gpu = topology::find_gpu_model(log.gpu->value);
  std::vector<std::string_view> names;
  for (const topology::ReferenceMachine& machine : topology::reference_machines())
    if (gpu != nullptr && has_gpus(machine, *gpu, log)) names.push_back(machine.name);
  if (names.empty()) return {};
  return fmt::format(" with such a network ({} {} them without it)", fmt::join(names, ", "),
                     names.size() == 1 ? "has" : "have");
}

constexpr double kSlowNic = 12.5;  ///< GB/s of a 100 Gb/s NIC: servers with such GPUs have no slower network

/// The machine with all of its NICs and, where there is a network, with as few and as slow ones as a smaller
/// machine may have.
std::vector<GpuCluster> with_each_network(const GpuCluster& whole) {
  std::vector<GpuCluster> clusters{whole};
  if (whole.nodes == 1) return clusters;
  for (const int nics : {4, 2, 1, 1}) {
    GpuCluster& fewer = clusters.emplace_back(whole);
    use_nics(fewer, nics);
    fewer.machine.clear();  // its provider's limits are for all of them
  }
  clusters.back().nic_line_rate = kSlowNic;
  clusters.back().nic_path = 0;
  return clusters;
}

/// Whether the machine is whole in this log: no smaller board with these GPUs, no slice of one, and no rack,
/// in which the log does not say who shares NVLinks.
bool is_whole(const topology::ReferenceMachine& machine, const LogFacts& log) {
  const std::string gpu = log.gpu ? log.gpu->value : "";
  return log.ranks_per_node->value == gpus_of(machine) && machine.nvlink_domain_gpus == 0 &&
         gpu.find("MIG") == std::string::npos && gpu.find("NVL") == std::string::npos;
}

/// A node of that name as the run used it.
GpuCluster cluster_on(std::string_view name, const Run& run, const std::string& where, bool own_floor) {
  const topology::ReferenceMachine& machine = *topology::find_reference_machine(name);
  return cluster_of_run(run, {std::string(name), {{topology::reference_host(machine)}}, &machine}, where,
                        own_floor);
}

/// Measured over expected, where the run is nearest to it.
double best_ratio(const Run& run) {
  double best = 0;
  for (const Row& row : run.rows) best = std::max(best, row.verdict.ratio.value_or(0));
  return best;
}

/// Of a machine that nobody named only GPUs behind NVSwitches are known to be alike.
bool takes_stated_nics(const GpuCluster& cluster, const topology::ReferenceMachine* named) {
  return named != nullptr || cluster.nvswitch;
}

GpuCluster with_stated_nics(GpuCluster cluster, const StatedNics& stated) {
  cluster.planned.reset();
  cluster.slower_nics.clear();
  cluster.nics = stated.nics;
  cluster.nics_per_gpu = std::max(1, stated.nics / cluster.ranks_per_node);
  cluster.one_gpu_per_nic = stated.nics >= cluster.ranks_per_node;
  cluster.nic_line_rate = stated.gigabits_per_second / 8;
  cluster.nic_path = 0;
  return cluster;
}

}  // namespace

std::vector<std::string_view> fitting_machines(const LogFacts& log) {
  const topology::GpuModel* gpu = log.gpu ? topology::find_gpu_model(log.gpu->value) : nullptr;
  std::vector<std::string_view> any;
  std::vector<std::string_view> same_network;
  const Transport transport = transport_in(log);
  for (const topology::ReferenceMachine& machine : topology::reference_machines()) {
    if (gpu == nullptr || !has_gpus(machine, *gpu, log) || !has_network(machine, log)) continue;
    any.push_back(machine.name);
    if (has_transport(machine, transport)) same_network.push_back(machine.name);
  }
  return same_network.empty() ? any : same_network;
}

std::string fitting_words(const std::vector<std::string_view>& names) {
  if (names.empty()) return {};
  std::string text = fmt::format("--topology {} fits", names.front());
  if (names.size() > 1) {
    text += fmt::format(" (so {} {})", names.size() == 2 ? "does" : "do",
                        fmt::join(names.begin() + 1, names.end(), ", "));
  }
  return text;
}

std::string suggested_topology(const LogFacts& log) {
  const std::string_view end = log.nodes ? "." : "; the number of nodes goes with --nodes.";
  if (!log.gpu) {
    return fmt::format(
        "the log does not name its GPUs: give the machine with --topology (collbench topo list names the "
        "reference machines){}",
        end);
  }
  const std::string found = fmt::format(
      "the log's GPUs are {}{}", log.gpu->value,
      log.ranks_per_node ? fmt::format(", {} per node", log.ranks_per_node->value) : std::string());
  const std::vector<std::string_view> names = fitting_machines(log);
  if (names.empty())
    return fmt::format("{}, and no reference machine has them{}: {}{}", found, with_other_network(log),
                       kHowToSaveMachine, end);
  std::vector<std::string_view> whole;
  std::vector<std::string_view> larger;
  for (const std::string_view name : names) {
    const int gpus = gpus_of(*topology::find_reference_machine(name));
    (log.ranks_per_node && log.ranks_per_node->value < gpus ? larger : whole).push_back(name);
  }
  const std::string if_larger = larger.empty()
                                    ? std::string()
                                    : fmt::format(", if a node has {} of them",
                                                  gpus_of(*topology::find_reference_machine(larger.front())));
  if (whole.empty() || larger.empty())
    return fmt::format("{}: {}{}{}", found, fitting_words(names), if_larger, end);
  return fmt::format("{}: {}; {}{}{}", found, fitting_words(whole), fmt::join(larger, ", "), if_larger, end);
}

std::optional<Run> judged_whichever_fits(const Run& run, const std::string& where) {
  if (!run.log || !run.log->nodes || !run.log->ranks_per_node || !measures_gpus(run.backend)) return {};
  const std::vector<std::string_view> names = fitting_machines(*run.log);
  std::optional<Run> slowest;
  std::string_view slowest_name;
  for (const std::string_view name : names) {
    if (!is_whole(*topology::find_reference_machine(name), *run.log)) return {};
    const GpuCluster whole = cluster_on(name, run, where, false);
    if (!whole.nvswitch) return {};
    for (const GpuCluster& cluster : with_each_network(whole)) {
      Run judged = judged_on_gpus(run, cluster);
      if (!is_bad(machine_word(judged))) return {};
      if (slowest && best_ratio(judged) <= best_ratio(*slowest)) continue;
      judged.yardstick = Yardstick{YardstickKind::slowest, std::string(name), {}};
      slowest = std::move(judged);
      slowest_name = name;
    }
  }
  if (!slowest) return {};
  for (Row& row : slowest->rows)  // how far below is another machine's figure
    if (row.verdict.word == VerdictWord::fault) row.verdict.word = VerdictWord::below;
  explain_bad(*slowest, fmt::format("The machine was not given; expected is what {} gives, the slowest of "
                                    "the reference machines with these GPUs ({}){}.",
                                    slowest_name, fmt::join(names, ", "),
                                    run.log->nodes->value > 1
                                        ? ", each also taken with 4, 2 and 1 of its NICs and one of 100 Gb/s"
                                        : ""));
  return slowest;
}

GpuCluster cluster_with_nics(const Run& run, const StatedNics& stated, const std::string& where,
                             bool own_floor) {
  constexpr std::string_view kOption = "--nics";
  const topology::ReferenceMachine* const named = topology::find_reference_machine(stated.machine);
  if (!stated.machine.empty() && named == nullptr)
    throw usage_error(std::string(kOption), fmt::format("{} has its own NICs", stated.machine),
                      "leave out --nics, or name a reference machine with the same GPUs");
  if (!run.log || !measures_gpus(run.backend))
    throw usage_error(std::string(kOption), fmt::format("{} is no log of a run on GPUs", where),
                      "give the machine with --topology");
  const topology::GpuModel* const in_log =
      run.log->gpu ? topology::find_gpu_model(run.log->gpu->value) : nullptr;
  if (named != nullptr && in_log != nullptr && in_log != topology::find_gpu_model(named->gpu_model))
    throw usage_error(
        "--topology",
        fmt::format("the log's GPUs are {}, and not those of {}", run.log->gpu->value, named->name),
        "leave it out, or name a reference machine with the same GPUs");
  if (!run.log->gpu && named == nullptr)
    throw usage_error(where, "the log does not name its GPUs",
                      "give with --topology a reference machine that has them (collbench topo list)");
  if (!run.log->nodes || !run.log->ranks_per_node)
    throw usage_error(where, "the log does not say its nodes and the ranks of each",
                      "give --nodes and --ranks-per-node");
  std::optional<GpuCluster> found;
  const auto names = named != nullptr ? std::vector{named->name} : fitting_machines(*run.log);
  for (const std::string_view name : names) {
    if (!is_whole(*topology::find_reference_machine(name), *run.log)) continue;
    GpuCluster cluster = cluster_on(name, run, where, own_floor);
    if (!takes_stated_nics(cluster, named)) continue;
    cluster.machine.clear();  // its provider's limits are for its own NICs
    const double line_rate = stated.gigabits_per_second / 8;
    // Another one may have these NICs; a provider's plugin was not stated.
    const bool is_same = cluster.nics == stated.nics && cluster.nic_line_rate == line_rate;
    if (is_same && traits(cluster.transport).nccl_sees_nics) return cluster;
    if (!found) found = with_stated_nics(std::move(cluster), stated);
  }
  if (found) return *found;
  throw usage_error(
      std::string(kOption),
      fmt::format("the GPUs are {}, {} per node; NICs alone make a machine only of 8 GPUs behind NVSwitches, "
                  "all in use (a part of a node, PCIe and racks need --topology)",
                  run.log->gpu ? run.log->gpu->value : named->gpu_model, run.log->ranks_per_node->value),
      std::string(kHowToSaveMachine));
}

std::string words(const GpuCluster& cluster, const StatedNics& stated) {
  std::string gpus = fmt::format("{} × {}", cluster.ranks_per_node, cluster.gpu);
  if (cluster.nodes == 1) return gpus;  // no NIC carried anything
  return fmt::format("{} with {} of {:g} Gb/s", gpus, counted(stated.nics, "NIC"),
                     stated.gigabits_per_second);
}

Run unclear_without_machine(Run run) {
  const std::string gpu = run.log && run.log->gpu ? run.log->gpu->value : "";
  const bool is_modeled = run.log && measures_gpus(run.backend) && topology::other_gpu_maker(gpu).empty();
  if (is_modeled && run.ranks.size() > 1 && !is_judged(run) && !verdict_series_of(run.rows).empty())
    run.yardstick = Yardstick{YardstickKind::unknown, "", {}};
  return run;
}

}  // namespace collbench::analysis
