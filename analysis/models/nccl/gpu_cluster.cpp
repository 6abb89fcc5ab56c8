#include "analysis/models/nccl/gpu_cluster.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/error.hpp"
#include "base/units.hpp"
#include "topology/catalogue/gpus.hpp"
#include "topology/catalogue/links.hpp"
#include "topology/graph/lookup.hpp"
#include "topology/graph/path.hpp"

namespace collbench::analysis {
namespace {

// NCCL's PCIe rates are before protocol overhead; no log of a switch-only path was at hand.
constexpr double kPcieEfficiency = 0.85;
constexpr double kFastNicGigabits = 100;  // slower ones are for management
constexpr topology::Device gpu(int index) { return {topology::DeviceKind::gpu, index}; }

/// NVLinks of a rank's GPU to the GPUs of other ranks, the fewest over ranks; 0 where NVLink does not connect
/// all of them: NCCL's rings then pass through PCIe.
int nvlinks_among(const topology::Host& host, int ranks) {
  if (ranks < 2) return topology::nvlinks_of(host, gpu(0));
  std::vector<bool> reached(static_cast<std::size_t>(ranks));
  std::vector<int> border{0};
  reached[0] = true;
  int fewest = 1 << 20;
  while (!border.empty()) {
    const int from = border.back();
    border.pop_back();
    int links = 0;
    for (int to = 0; to < ranks; ++to) {
      const int between = topology::nvlinks_between(host, gpu(from), gpu(to));
      links += between;
      if (between == 0 || reached[static_cast<std::size_t>(to)]) continue;
      reached[static_cast<std::size_t>(to)] = true;
      border.push_back(to);
    }
    fewest = std::min(fewest, topology::has_nvswitch(host) ? topology::nvlinks_of(host, gpu(from)) : links);
  }
  return std::all_of(reached.begin(), reached.end(), [](bool each) { return each; }) ? fewest : 0;
}

/// The slowest way from one rank's GPU to the next one's.
void find_host_path(const topology::Host& host, GpuCluster& cluster) {
  bool all_switched = true;
  for (int i = 0; i < cluster.ranks_per_node; ++i) {
    const auto path = topology::path_between(host, gpu(i), gpu((i + 1) % cluster.ranks_per_node));
    if (!path || path->type <= topology::PathType::nvl) continue;
    all_switched = all_switched && path->type <= topology::PathType::pxb;
    for (const topology::PathHop& hop : path->hops) {
      if (!hop.gigabytes_per_second) continue;
      const bool pcie = hop.link.starts_with("PCIe");
      const double rate = *hop.gigabytes_per_second * (pcie ? kPcieEfficiency : 1);
      if (cluster.host_path > 0 && cluster.host_path <= rate) continue;
      cluster.host_path = rate;
      cluster.host_path_name = pcie ? hop.link : "the path " + hop.link;
    }
  }
  cluster.host_path_is_switched = cluster.host_path > 0 && all_switched;
  if (cluster.host_path > 0) return;
  // No source shows the way: NCCL's rate between two sockets of a CPU that it does not know.
  cluster.host_path = topology::cpu_interconnect_rate("x86_64", "", 0).gigabytes_per_second;
  cluster.host_path_name = "the path through the host (not in the topology)";
}

double line_rate(const topology::Nic& nic) {
  double gigabits = 0;
  for (const topology::NicPort& port : nic.ports) {
    const std::string state = port.state.value_or("ACTIVE");
    if (state.find("DOWN") == std::string::npos) gigabits += port.gigabits_per_second.value_or(0);
  }
  return gigabits;
}

/// Of the device at `address`; 0: not known.
double pcie_of(const topology::Host& host, std::string_view address) {
  const topology::PciDevice* device = topology::find_pci_device(host, address);
  if (device == nullptr || !device->link_max.gigatransfers_per_second.known()) return 0;
  const int width = device->link_now.width.value_or(device->link_max.width.value_or(16));
  // Virtual machines show links of no use: 2.5 GT/s or no width (NVIDIA/nccl#749).
  if (width == 0 || *device->link_max.gigatransfers_per_second.value < 8) return 0;
  return topology::pcie_rate(*device->link_max.gigatransfers_per_second.value, width).gigabytes_per_second;
}

void find_nics(const topology::Host& host, GpuCluster& cluster) {
  double fastest = 0;
  for (const topology::Nic& nic : host.nics) fastest = std::max(fastest, line_rate(nic));
  const double least = std::min(fastest, kFastNicGigabits);
  double sum = 0;
  for (const topology::Nic& nic : host.nics) {
    const double gigabits = line_rate(nic);
    if (gigabits < least || gigabits == 0) continue;
    ++cluster.nics;
    sum += topology::nic_rate(gigabits).gigabytes_per_second;
    const double pcie = pcie_of(host, nic.pci_address.value_or(""));
    if (pcie > 0) cluster.nic_path = cluster.nic_path > 0 ? std::min(cluster.nic_path, pcie) : pcie;
  }
  if (cluster.nics > 0) cluster.nic_line_rate = sum / cluster.nics;
}

}  // namespace

GpuCluster gpu_cluster(const topology::Host& host, int nodes, int ranks_per_node, const std::string& where) {
  const int gpus = static_cast<int>(host.gpus.size());
  if (gpus == 0) {
    throw usage_error(
        where, "this topology has no GPU",
        "give one with GPUs: a reference machine's name, or a file that collbench topo save wrote");
  }
  if (nodes < 1 || ranks_per_node < 0 || ranks_per_node > gpus) {
    throw usage_error(where, fmt::format("{} ranks do not fit on a node with {} GPUs", ranks_per_node, gpus),
                      fmt::format("give 1 to {} ranks per node", gpus));
  }
  GpuCluster cluster;
  const std::string model = host.gpus[0].model.value_or("");
  const topology::GpuModel* known = topology::find_gpu_model(model);
  cluster.gpu = known != nullptr ? std::string(known->name)
                : model.empty()  ? std::string(kUnknownGpu)
                                 : model;
  const auto sm = topology::sm_of(host, host.gpus[0]);
  if (!sm) {
    throw usage_error(
        where, "the GPU model is unknown, so no link rate is known",
        fmt::format(
            "put it together with nvidia-smi -q -x > q.xml; collbench topo save {} q.xml -o node.json",
            where));
  }
  cluster.sm = *sm;
  cluster.nodes = nodes;
  cluster.ranks_per_node = ranks_per_node == 0 ? gpus : ranks_per_node;
  cluster.nvlinks = nvlinks_among(host, cluster.ranks_per_node);
  cluster.nvswitch = cluster.nvlinks > 0 && topology::has_nvswitch(host);
  if (cluster.nvlinks == 0 && cluster.ranks_per_node > 1) find_host_path(host, cluster);
  find_nics(host, cluster);
  cluster.transport = cluster.nic_transport = transport_of(host, cluster.sm);
  cluster.gpu_path = pcie_of(host, host.gpus[0].pci_address.value_or(""));
  if (nodes > 1 && cluster.nics == 0) {
    throw usage_error(
        where,
        host.nics.empty()
            ? std::string("this topology has no NIC, so it cannot reach other nodes")
            : fmt::format("the rate of its {} to other nodes is unknown", counted(host.nics.size(), "NIC")),
        "save it on the machine itself (collbench topo save), or predict one node");
  }
  return cluster;
}

GpuCluster gpu_cluster(const topology::ReferenceMachine& machine, int nodes, int ranks_per_node) {
  const std::string name(machine.name);
  const topology::Host host = topology::reference_host(machine);
  const int gpus = static_cast<int>(host.gpus.size());
  const int most = machine.nvlink_domain_gpus > 0 ? machine.nvlink_domain_gpus / gpus : 1;
  // Within one NVLink domain no NIC is needed.
  GpuCluster cluster = gpu_cluster(host, nodes >= 1 && nodes <= most ? 1 : nodes, ranks_per_node, name);
  cluster.nodes = nodes;
  cluster.nodes_per_domain = most;
  cluster.transport = cluster.nic_transport =
      find_transport(machine.nic_transport, cluster.sm).value_or(Transport::unknown);
  return cluster;
}

GpuCluster gpu_cluster(const topology::ResolvedMachine& machine, int nodes, int ranks_per_node) {
  return machine.reference != nullptr
             ? gpu_cluster(*machine.reference, nodes, ranks_per_node)
             : gpu_cluster(machine.first_host(), nodes, ranks_per_node, machine.argument);
}

}  // namespace collbench::analysis
