#include "analysis/verdict/fitting_machines.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text_input.hpp"
#include "topology/catalog/gpus.hpp"
#include "topology/machines/reference_machines.hpp"

namespace collbench::analysis {
namespace {

/// What the log says of its network, as reference machines name it; empty where it does not say.
std::string_view transport_in(const LogFacts& log) {
  if (log.network) {
    const std::string network = lower(log.network->value);
    if (network.find("libfabric") != std::string::npos) return "EFA";
    if (network.find("fastrak") != std::string::npos) return "TCPXO";
  }
  if (log.link_layer) return log.link_layer->value == "RoCE" ? "RoCE" : "IB";
  return "";
}

bool fits(const topology::ReferenceMachine& machine, const topology::GpuModel& gpu, const LogFacts& log) {
  const topology::GpuModel* model = topology::find_gpu_model(machine.gpu_model);
  if (model == nullptr || model->name != gpu.name) return false;
  // A bridge between PCIe cards is no reference machine's.
  if (log.nvlink_most_bytes_per_second && machine.wiring == topology::NvLinkWiring::none) return false;
  const bool many_nodes = log.nodes && log.nodes->value > 1;
  if (many_nodes && machine.nic_transport.empty() && machine.nvlink_domain_gpus == 0) return false;
  int gpus = 0;
  for (const topology::ReferenceSwitch& group : machine.switches) gpus += group.gpus;
  return !log.ranks_per_node || log.ranks_per_node->value <= gpus;
}

}  // namespace

std::vector<std::string_view> fitting_machines(const LogFacts& log) {
  const topology::GpuModel* gpu = log.gpu ? topology::find_gpu_model(log.gpu->value) : nullptr;
  std::vector<std::string_view> any;
  std::vector<std::string_view> same_network;
  const std::string_view transport = transport_in(log);
  for (const topology::ReferenceMachine& machine : topology::reference_machines()) {
    if (gpu == nullptr || !fits(machine, *gpu, log)) continue;
    any.push_back(machine.name);
    if (machine.nic_transport == transport) same_network.push_back(machine.name);
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
  if (!log.gpu) {
    return "the log does not name its GPUs: give the machine with --topology (collbench topo list names the "
           "reference machines).";
  }
  const std::string found = fmt::format(
      "the log's GPUs are {}{}", log.gpu->value,
      log.ranks_per_node ? fmt::format(", {} to a node", log.ranks_per_node->value) : std::string());
  const std::vector<std::string_view> names = fitting_machines(log);
  if (names.empty())
    return fmt::format("{}, and no reference machine has them: {}.", found, kHowToSaveMachine);
  return fmt::format("{}: {}{}", found, fitting_words(names),
                     log.nodes ? "." : "; the number of nodes goes with --nodes.");
}

}  // namespace collbench::analysis
