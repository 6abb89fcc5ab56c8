#include "analysis/models/nccl/gpu_cluster.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "analysis/models/nccl/node_nics.hpp"
#include "base/error.hpp"
#include "base/units.hpp"
#include "topology/catalog/gpus.hpp"
#include "topology/catalog/links.hpp"
#include "topology/graph/lookup.hpp"
#include "topology/graph/path.hpp"

namespace collbench::analysis {
namespace {

// NCCL's PCIe rates are before protocol overhead; no log of a switch-only path was at hand.
constexpr double kPcieEfficiency = 0.85;
constexpr topology::Device gpu(int index) { return {topology::DeviceKind::gpu, index}; }

const topology::GpuModel* model_of(const topology::Host& host, const topology::Gpu& each) {
  if (const topology::GpuModel* model = topology::find_gpu_model(each.model.value_or(""))) return model;
  const topology::PciDevice* pci = topology::find_pci_device(host, each.pci_address.value_or(""));
  return pci == nullptr ? nullptr
                        : topology::find_gpu_model_by_pci(pci->vendor.value_or(""), pci->device.value_or(""));
}

/// Whether the links are listed and no source says where they lead (`nvidia-smi nvlink -s` alone): on SXM
/// modules the board wires them to the other GPUs; a bridge joins two cards.
bool only_listed(const topology::Host& host) {
  if (!host.nvlinks.empty() || host.gpus.empty()) return false;
  const bool stated = std::any_of(host.stated_paths.begin(), host.stated_paths.end(), [](const auto& path) {
    return path.from.kind == topology::DeviceKind::gpu && path.to.kind == topology::DeviceKind::gpu;
  });
  return !stated && std::all_of(host.gpus.begin(), host.gpus.end(), [&](const topology::Gpu& each) {
    const topology::GpuModel* model = model_of(host, each);
    return each.nvlinks_active.value_or(0) > 0 &&
           (host.gpus.size() == 2 || (model != nullptr && topology::is_wired_on_board(*model)));
  });
}

/// The fewest that one GPU lists: those of a ring pass through every GPU.
int fewest_listed(const topology::Host& host, int ranks) {
  int fewest = topology::nvlinks_of(host, gpu(0));
  for (int i = 1; i < ranks; ++i) fewest = std::min(fewest, topology::nvlinks_of(host, gpu(i)));
  return fewest;
}

/// More than four SXM modules of Ampere or later are an HGX board, whose links lead to NVSwitches (the data
/// sheets of HGX A100, H100, H200 and B200); four or fewer, and V100, may be wired to each other.
bool behind_switches(const topology::Host& host, GpuGeneration generation) {
  constexpr std::size_t kMaxDirect = 4;
  return topology::has_nvswitch(host) ||
         (only_listed(host) && generation >= GpuGeneration::ampere && host.gpus.size() > kMaxDirect);
}

/// NVLinks of a rank's GPU to the GPUs of other ranks, the fewest over ranks; 0 where NVLink does not connect
/// all of them: NCCL's rings then pass through PCIe.
int nvlinks_among(const topology::Host& host, int ranks) {
  if (ranks < 2) return topology::nvlinks_of(host, gpu(0));
  if (only_listed(host)) return fewest_listed(host, ranks);
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
      const bool pcie = hop.kind == topology::HopKind::pcie;
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

/// The NICs at the nearest path of each of the first `gpus` GPUs, which are those that NCCL's rings leave by.
int near_nics(const topology::Host& host, int gpus) {
  std::set<int> near;
  for (int i = 0; i < gpus; ++i) {
    std::optional<topology::PathType> nearest;
    for (const topology::Device& nic : topology::nics_by_nearness(host, gpu(i))) {
      const auto path = topology::path_between(host, gpu(i), nic);
      if (!path || (nearest && path->type != *nearest)) break;
      nearest = path->type;
      near.insert(nic.index);
    }
  }
  return static_cast<int>(near.size());
}

GpuCluster links_of(const topology::Host& host, int nodes, int ranks_per_node, const std::string& where) {
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
  const topology::PciDevice* pci = topology::find_pci_device(host, host.gpus[0].pci_address.value_or(""));
  if (const auto maker =
          topology::other_gpu_maker(model, pci == nullptr ? std::string() : pci->vendor.value_or(""));
      !maker.empty()) {
    throw usage_error(where, fmt::format("its GPUs are {}'s, and only NCCL on NVIDIA's is modeled", maker),
                      "a log of theirs is judged without --topology; topo show and topo diff read them");
  }
  const topology::GpuModel* known = topology::find_gpu_model(model);
  cluster.gpu = known != nullptr ? std::string(known->name)
                : model.empty()  ? std::string(kUnknownGpu)
                                 : model;
  const auto generation = topology::generation_of(host, host.gpus[0]);
  if (!generation && topology::nvlinks_of(host, gpu(0)) > 0) {
    throw usage_error(
        where, "the GPU model is unknown, so the rate of its NVLinks is not known",
        fmt::format(
            "put it together with nvidia-smi -q -x > q.xml; collbench topo save {} q.xml -o node.json",
            where));
  }
  // Through the host it is the host's links that bound a ring, whatever the GPU.
  if (!generation) cluster.gpu = model.empty() ? "unknown GPU" : fmt::format("unknown GPU ({})", model);
  cluster.generation = generation.value_or(GpuGeneration::unknown);
  cluster.nodes = nodes;
  cluster.gpus = gpus;
  cluster.ranks_per_node = ranks_per_node == 0 ? gpus : ranks_per_node;
  cluster.nvlinks = nvlinks_among(host, cluster.ranks_per_node);
  cluster.nvswitch = cluster.nvlinks > 0 && behind_switches(host, cluster.generation);
  if (cluster.nvlinks == 0 && cluster.ranks_per_node > 1) find_host_path(host, cluster);
  const NodeNics nics = node_nics(host, cluster.generation);
  cluster.nics = nics.used;
  cluster.near_nics = std::min(near_nics(host, cluster.ranks_per_node), nics.used);
  cluster.one_gpu_per_nic = nics.one_gpu_each;
  cluster.nics_per_gpu = nics.per_gpu;
  cluster.nic_line_rate = nics.fastest.line_rate;
  cluster.nic_path = nics.fastest.path;
  cluster.slower_nics = nics.slower;
  cluster.amd_cpu = std::any_of(
      host.numa_nodes.begin(), host.numa_nodes.end(),
      [](const topology::NumaNode& node) { return node.cpu_vendor.value_or("") == "AuthenticAMD"; });
  cluster.transport = cluster.nic_transport = analysis::transport_of(host, cluster.generation);
  cluster.gpu_path = gpu_path(host, cluster.ranks_per_node);
  if (nodes > 1 && cluster.nics == 0) {
    if (host.nics.empty()) {
      throw usage_error(where, "this topology has no NIC, so it cannot reach other nodes",
                        "save it on the machine itself (collbench topo save), or predict one node");
    }
    throw usage_error(
        where, fmt::format("the rate of its {} to other nodes is unknown", counted(host.nics.size(), "NIC")),
        fmt::format("put it together with ibstat > ib.txt; collbench topo save {} ib.txt -o node.json",
                    where));
  }
  return cluster;
}

std::optional<PlannedNode> plan_of_cluster(const topology::Host& host, const GpuCluster& cluster,
                                           const NcclSettings& settings) {
  const bool on_all_gpus = std::cmp_equal(cluster.ranks_per_node, host.gpus.size());
  if (cluster.nodes < 2 || !on_all_gpus || cluster.nvlinks == 0 || cluster.nics == 0) return std::nullopt;
  const topology::Host read = as_nccl_reads_links(host);
  const std::vector<int> nics = fast_enough_nics(read);
  const topology::Host equal = with_equal_links(read, nics);
  auto planned = planned_node(read, equal, nics, cluster.nodes, settings);
  if (!planned) return std::nullopt;
  const GpuCluster whole = links_of(equal, cluster.nodes, cluster.ranks_per_node, "");
  planned->missing_nvlinks = whole.nvlinks - cluster.nvlinks;
  planned->nics = whole.nics;
  const auto slowest = slowest_nic(read, host);
  if (slowest->nccl_rate() < slowest_nic(read, read)->nccl_rate()) planned->waits_for = slowest;
  return planned;
}

}  // namespace

GpuCluster gpu_cluster(const topology::Host& host, int nodes, int ranks_per_node, const std::string& where,
                       const NcclSettings& settings) {
  GpuCluster cluster = links_of(host, nodes, ranks_per_node, where);
  cluster.planned = plan_of_cluster(host, cluster, settings);
  return cluster;
}

GpuCluster gpu_cluster(const topology::ReferenceMachine& machine, int nodes, int ranks_per_node) {
  const std::string name(machine.name);
  const topology::Host host = topology::reference_host(machine);
  const int gpus = static_cast<int>(host.gpus.size());
  const int most = machine.nvlink_domain_gpus > 0 ? machine.nvlink_domain_gpus / gpus : 1;
  // Within one NVLink domain no NIC is needed.
  GpuCluster cluster = gpu_cluster(host, nodes >= 1 && nodes <= most ? 1 : nodes, ranks_per_node, name);
  cluster.machine = name;
  cluster.nodes = nodes;
  cluster.nodes_per_domain = most;
  cluster.transport = cluster.nic_transport =
      find_transport(machine.nic_transport, cluster.generation).value_or(Transport::unknown);
  return cluster;
}

GpuCluster gpu_cluster(const topology::ResolvedMachine& machine, int nodes, int ranks_per_node) {
  if (machine.reference == nullptr)
    return gpu_cluster(machine.first_host(), nodes, ranks_per_node, machine.argument);
  GpuCluster cluster = gpu_cluster(*machine.reference, nodes, ranks_per_node);
  if (machine.argument != machine.reference->name) cluster.machine.clear();
  return cluster;
}

}  // namespace collbench::analysis
