#include "analysis/models/nccl/planned_node.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <map>
#include <mutex>
#include <string>

#include "analysis/models/nccl/gpu_cluster.hpp"
#include "analysis/models/nccl/nccl_cost.hpp"
#include "topology/graph/lookup.hpp"
#include "topology/graph/path.hpp"
#include "topology/graph/port_state.hpp"

namespace collbench::analysis {

PlanRates plan_rates(const NodePlan& plan, GpuGeneration generation, int nodes, int ranks) {
  const NcclJob job{.ranks = ranks, .nodes = nodes, .generation = generation};
  const auto rate = [&job](NcclAlgorithm algorithm, const ChannelPlan& channels) {
    if (channels.channels == 0) return 0.0;
    const auto cost =
        nccl_cost(OperationId::all_reduce, algorithm, NcclProtocol::simple, job, graph_of(channels));
    return cost ? cost->gigabytes_per_second : 0.0;
  };
  return {rate(NcclAlgorithm::ring, plan.ring), rate(NcclAlgorithm::tree, plan.tree),
          rate(NcclAlgorithm::nvls_tree, plan.nvls)};
}

namespace {

bool is_gpu_at(const topology::Host& host, const topology::PciDevice& device) {
  return std::any_of(host.gpus.begin(), host.gpus.end(),
                     [&device](const topology::Gpu& gpu) { return gpu.pci_address.value == device.address; });
}

/// Lanes × rate of a lane.
double speed_of(const topology::PciDevice& device) {
  const int width = device.link_now.width.value_or(device.link_max.width.value_or(0));
  return width * device.link_max.gigatransfers_per_second.value_or(0);
}

/// Devices that are to have equal links: the GPUs, the NICs, and the bridges above them by their depth.
std::map<std::string, std::vector<std::string>> groups_of_links(const topology::Host& host,
                                                                const std::vector<int>& nics) {
  std::map<std::string, std::vector<std::string>> groups;
  const auto add = [&](const std::string& kind, const std::string& address) {
    auto way = topology::way_to_root(host, address);
    for (std::size_t i = 0; i < way.size(); ++i) {
      groups[i == 0 ? kind : "bridge " + std::to_string(way.size() - i)].push_back(way[i]->address);
    }
  };
  for (const topology::Gpu& gpu : host.gpus) add("GPU", gpu.pci_address.value_or(""));
  for (const int nic : nics) add("NIC", host.nics[static_cast<std::size_t>(nic)].pci_address.value_or(""));
  return groups;
}

void equal_pcie(topology::Host& host, const std::vector<int>& nics) {
  for (const auto& [kind, addresses] : groups_of_links(host, nics)) {
    const topology::PciDevice* best = nullptr;
    for (const std::string& address : addresses) {
      const topology::PciDevice* each = topology::find_pci_device(host, address);
      if (best == nullptr || speed_of(*each) > speed_of(*best)) best = each;
    }
    const topology::PcieLink now = best->link_now;
    const topology::PcieLink most = best->link_max;
    for (topology::PciDevice& device : host.pci_devices) {
      if (std::find(addresses.begin(), addresses.end(), device.address) == addresses.end()) continue;
      device.link_now = now;
      device.link_max = most;
    }
  }
}

void equal_ports(topology::Host& host, const std::vector<int>& nics) {
  std::vector<topology::NicPort*> ports;
  for (const int nic : nics) {
    for (topology::NicPort& port : host.nics[static_cast<std::size_t>(nic)].ports) {
      if (topology::may_carry_traffic(port)) ports.push_back(&port);
    }
  }
  double best = 0;
  for (const topology::NicPort* port : ports) best = std::max(best, port->gigabits_per_second.value_or(0));
  for (topology::NicPort* port : ports) {
    if (port->gigabits_per_second.known()) port->gigabits_per_second.value = best;
  }
}

/// Where GPUs are wired to each other nothing says how many links a pair should have.
void equal_nvlinks(topology::Host& host) {
  if (!topology::has_nvswitch(host)) return;
  const auto links = [&host](std::size_t gpu) {
    return topology::nvlinks_of(host, {topology::DeviceKind::gpu, static_cast<int>(gpu)});
  };
  std::size_t best = 0;
  for (std::size_t i = 1; i < host.gpus.size(); ++i) best = links(i) > links(best) ? i : best;
  const int most = links(best);
  for (topology::Gpu& gpu : host.gpus) gpu.nvlinks_active.value = most;
  // The lists of links to each switch, likewise: as many as the GPU with the most has.
  std::map<int, int> to_switch;
  for (const topology::NvLinkBundle& bundle : host.nvlinks) {
    if (bundle.from == topology::Device{topology::DeviceKind::gpu, static_cast<int>(best)})
      to_switch[bundle.to.index] = bundle.count.value_or(0);
  }
  if (to_switch.empty()) return;
  for (topology::NvLinkBundle& bundle : host.nvlinks) {
    if (bundle.from.kind == topology::DeviceKind::gpu && bundle.to.kind == topology::DeviceKind::nvswitch)
      bundle.count.value = to_switch[bundle.to.index];
  }
}

/// Text of all that a search depends on.
std::string search_key(const MachineGraph& graph, const NcclSettings& settings) {
  std::string key = fmt::format("{} {} {} {} {}", settings.pxn, settings.cross_nic,
                                static_cast<int>(graph.generation), static_cast<int>(graph.cpu), graph.x86);
  for (const std::vector<int>& of_kind : graph.of_kind) key += fmt::format("\n{}", fmt::join(of_kind, " "));
  for (const GraphNode& node : graph.nodes) {
    key += fmt::format("\n{} {} {} {} {} {}", static_cast<int>(node.kind), node.device, node.card, node.port,
                       node.rate, node.gpudirect);
    for (const GraphLink& link : node.links) {
      key += fmt::format(", {} {} {}", static_cast<int>(link.kind), link.to, link.rate);
    }
  }
  return key;
}

/// The search depends on nothing else and takes up to a tenth of a second, and one report asks for the same
/// nodes many times: what was found is kept.
NodePlan plan_once(const MachineGraph& graph, const NcclSettings& settings) {
  constexpr std::size_t kMaxKept = 256;
  static std::mutex mutex;
  static std::map<std::string, NodePlan> kept;
  const std::scoped_lock lock(mutex);
  const std::string key = search_key(graph, settings);
  const auto known = kept.find(key);
  if (known != kept.end()) return known->second;
  if (kept.size() == kMaxKept) kept.clear();
  return kept.emplace(key, plan_channels(graph, true, settings)).first->second;
}

int whole_number_of_nics(int nics) {
  return static_cast<int>(std::bit_ceil(static_cast<unsigned>(std::max(1, nics))));
}

}  // namespace

topology::Host as_nccl_reads_links(topology::Host host) {
  for (topology::PciDevice& device : host.pci_devices) {
    if (device.link_max.width.known() && !is_gpu_at(host, device)) device.link_now.width.value.reset();
  }
  return host;
}

topology::Host with_equal_links(topology::Host host, const std::vector<int>& nics) {
  equal_pcie(host, nics);
  equal_ports(host, nics);
  equal_nvlinks(host);
  return host;
}

std::optional<PlannedNode> planned_node(const topology::Host& node, const topology::Host& equal,
                                        const std::vector<int>& nics, int nodes,
                                        const NcclSettings& settings) {
  const auto gpus = static_cast<int>(node.gpus.size());
  const MachineGraph graph = machine_graph(node, gpus, nics);
  PlannedNode planned;
  planned.plan = plan_once(graph, settings);
  planned.equal = plan_rates(plan_once(machine_graph(equal, gpus, nics), NcclSettings{}), graph.generation,
                             nodes, nodes * gpus);
  if (planned.equal.ring == 0) return std::nullopt;
  return planned;
}

const PlannedNode* plan_of(const GpuCluster& cluster) {
  return cluster.planned && cluster.domains() > 1 && cluster.nodes_per_domain == 1 ? &*cluster.planned
                                                                                   : nullptr;
}

GpuCluster with_whole_nodes(const GpuCluster& cluster) {
  GpuCluster whole = cluster;
  whole.planned.reset();
  whole.slower_nics.clear();
  const PlannedNode* planned = plan_of(cluster);
  if (planned == nullptr) return whole;
  whole.nvlinks += planned->missing_nvlinks;
  whole.nics = whole_number_of_nics(planned->nics);
  whole.gpu_path *= static_cast<double>(whole.nics) / planned->nics;  // GPUs are missing as well
  if (planned->waits_for) {
    whole.nic_line_rate = planned->waits_for->line_rate;
    whole.nic_path = planned->waits_for->path;
  }
  return whole;
}

PlanRates parts_of_whole_nodes(const GpuCluster& cluster) {
  const PlannedNode* planned = plan_of(cluster);
  if (planned == nullptr) return {1, 1, 1};
  const PlanRates left = plan_rates(planned->plan, cluster.generation, cluster.nodes, cluster.ranks());
  const double nics = static_cast<double>(planned->nics) / whole_number_of_nics(planned->nics);
  const auto part = [nics](double found, double equal) { return equal > 0 ? nics * found / equal : nics; };
  return {part(left.ring, planned->equal.ring), part(left.tree, planned->equal.tree),
          part(left.nvls, planned->equal.nvls)};
}

}  // namespace collbench::analysis
