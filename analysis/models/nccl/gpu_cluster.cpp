#include "analysis/models/nccl/gpu_cluster.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>
#include <vector>

#include "analysis/models/nccl/nccl_cost.hpp"
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
// NCCL 2.30 src/graph/search.cc: its search can use a NIC down to this part of the speed of the others.
constexpr double kUsablePart = 0.49;
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
bool behind_switches(const topology::Host& host, int sm) {
  constexpr std::size_t kMaxDirect = 4;
  constexpr int kAmpere = 80;
  return topology::has_nvswitch(host) ||
         (only_listed(host) && sm >= kAmpere && host.gpus.size() > kMaxDirect);
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

/// NICs with traffic in the slot of `address`: the ports of a card, as functions or at one function, share
/// its PCIe link. 1 for any other device.
int nics_in_slot(const topology::Host& host, std::string_view address) {
  const std::string_view slot = address.substr(0, address.rfind('.'));
  const auto sharing = std::count_if(host.nics.begin(), host.nics.end(), [slot](const topology::Nic& nic) {
    const std::string theirs = nic.pci_address.value_or("");
    return !theirs.empty() && theirs.substr(0, theirs.rfind('.')) == slot && line_rate(nic) > 0;
  });
  return std::max(1, static_cast<int>(sharing));
}

/// Of the device at `address`, its part where several NICs share a slot; 0: not known.
double pcie_of(const topology::Host& host, std::string_view address) {
  const topology::PciDevice* device = topology::find_pci_device(host, address);
  if (device == nullptr || !device->link_max.gigatransfers_per_second.known()) return 0;
  const int width = device->link_now.width.value_or(device->link_max.width.value_or(16));
  // Virtual machines show links of no use: 2.5 GT/s or no width (NVIDIA/nccl#749).
  if (width == 0 || *device->link_max.gigatransfers_per_second.value < 8) return 0;
  return topology::pcie_rate(*device->link_max.gigatransfers_per_second.value, width).gigabytes_per_second /
         nics_in_slot(host, address);
}

topology::Device nic(int index) { return {topology::DeviceKind::nic, index}; }

/// The NICs for collectives, by position.
std::vector<int> fast_enough_nics(const topology::Host& host) {
  double fastest = 0;
  for (const topology::Nic& each : host.nics) fastest = std::max(fastest, line_rate(each));
  std::vector<int> found;
  for (int i = 0; i < static_cast<int>(host.nics.size()); ++i) {
    const double gigabits = line_rate(host.nics[static_cast<std::size_t>(i)]);
    const double least = std::min(kFastNicGigabits, kUsablePart * fastest);
    if (gigabits > 0 && gigabits >= least) found.push_back(i);
  }
  return found;
}

/// No host bridge between (PXB), or where there is no such GPU those with their own link to the NIC's CPU
/// (P2C): what NCCL prefers to any other way.
std::vector<int> gpus_next_to(const topology::Host& host, int index) {
  std::vector<int> by_pcie;
  std::vector<int> by_c2c;
  for (int i = 0; i < static_cast<int>(host.gpus.size()); ++i) {
    const topology::StatedPath* stated = topology::find_stated_path(host, gpu(i), nic(index));
    const auto type = stated != nullptr && stated->type.known()
                          ? stated->type.value
                          : topology::pci_path_type(host, gpu(i), nic(index));
    if (!type || *type >= topology::PathType::sys) continue;
    if (*type <= topology::PathType::pxb) by_pcie.push_back(i);
    if (host.gpus[static_cast<std::size_t>(i)].c2c_links.value_or(0) > 0) by_c2c.push_back(i);
  }
  return by_pcie.empty() ? by_c2c : by_pcie;
}

double lower_known(double a, double b) { return a > 0 && b > 0 ? std::min(a, b) : std::max(a, b); }

/// The slowest PCIe link from the device up to where it meets the other one; 0: none is known.
double pcie_towards(const topology::Host& host, const topology::Device& from, const topology::Device& to) {
  const auto way = topology::way_to_root(host, topology::pci_address_of(host, from).value_or(""));
  const auto other = topology::way_to_root(host, topology::pci_address_of(host, to).value_or(""));
  double slowest = 0;
  for (const topology::PciDevice* device : way) {
    if (std::find(other.begin(), other.end(), device) != other.end()) break;
    slowest = lower_known(slowest, pcie_of(host, device->address));
  }
  return slowest;
}

/// A NIC and the GPUs that share its switch.
struct PlacedNic {
  NicLink link;
  std::vector<int> gpus;
  int nics = 1;              ///< next to the same GPUs
  double slowest_gpu = 0;    ///< of their PCIe links; 0: not known
  double channels_room = 0;  ///< channels of this NIC's rate that those of `gpus` carry which carry one
};

PlacedNic placed_nic(const topology::Host& host, int index) {
  const topology::Nic& each = host.nics[static_cast<std::size_t>(index)];
  PlacedNic placed;
  placed.link.line_rate = topology::nic_rate(line_rate(each)).gigabytes_per_second;
  placed.link.path = pcie_of(host, each.pci_address.value_or(""));
  placed.gpus = gpus_next_to(host, index);
  for (const int next : placed.gpus) {
    placed.link.path = lower_known(placed.link.path, pcie_towards(host, nic(index), gpu(next)));
    placed.slowest_gpu = lower_known(placed.slowest_gpu, pcie_towards(host, gpu(next), nic(index)));
  }
  return placed;
}

std::vector<PlacedNic> placed_nics(const topology::Host& host, const std::vector<int>& indices, int sm) {
  std::vector<PlacedNic> all;
  for (const int index : indices) all.push_back(placed_nic(host, index));
  // What a source leaves out is as on the others: no NIC is slower for it.
  double usual_path = 0;
  for (const PlacedNic& each : all) usual_path = std::max(usual_path, each.link.path);
  for (PlacedNic& each : all) {
    if (each.link.path == 0) each.link.path = usual_path;
  }
  for (PlacedNic& each : all) {
    each.nics = static_cast<int>(std::count_if(
        all.begin(), all.end(), [&](const PlacedNic& other) { return other.gpus == each.gpus; }));
    if (each.gpus.size() > 1) {
      each.link.neighbors = each.nics > 1 ? NicNeighbors::gpus_and_nics : NicNeighbors::gpus_without_a_nic;
    }
    const std::vector<double>& speeds = nccl_network_speeds(sm);
    const auto speed = std::find_if(speeds.begin(), speeds.end(),
                                    [&](double tried) { return tried <= each.link.nccl_rate(); });
    for (const int next : each.gpus) {
      const double pcie = pcie_of(host, host.gpus[static_cast<std::size_t>(next)].pci_address.value_or(""));
      if (pcie == 0 || speed == speeds.end()) {
        each.channels_room = each.nics;  // not known: it does not limit
      } else if (pcie >= each.link.nccl_rate()) {
        each.channels_room += std::floor(pcie / *speed);
      }
    }
  }
  return all;
}

/// What NCCL's search does not use while it has others: NICs that no GPU is next to (it looks beyond PXN only
/// while it has found nothing), and those whose GPUs' PCIe links carry less than the way through the CPU.
void drop_unreached(std::vector<PlacedNic>& nics) {
  std::vector<PlacedNic> reached;
  std::map<std::vector<int>, int> taken;
  for (const PlacedNic& each : nics) {
    if (!each.gpus.empty() && taken[each.gpus]++ < static_cast<int>(each.channels_room))
      reached.push_back(each);
  }
  if (!reached.empty()) nics = std::move(reached);
}

void find_nics(const topology::Host& host, GpuCluster& cluster) {
  std::vector<PlacedNic> nics = placed_nics(host, fast_enough_nics(host), cluster.sm);
  drop_unreached(nics);
  cluster.nics = static_cast<int>(nics.size());
  const auto fastest = std::max_element(nics.begin(), nics.end(), [](const PlacedNic& a, const PlacedNic& b) {
    return a.link.nccl_rate() < b.link.nccl_rate();
  });
  if (fastest == nics.end()) return;
  cluster.one_gpu_per_nic =
      std::all_of(nics.begin(), nics.end(), [](const PlacedNic& each) { return each.gpus.size() == 1; });
  const int sharing = std::max(1, static_cast<int>(fastest->gpus.size()));
  cluster.nics_per_gpu = (fastest->nics + sharing - 1) / sharing;
  cluster.nic_line_rate = fastest->link.line_rate;
  cluster.nic_path = fastest->link.path;
  for (const PlacedNic& each : nics) {
    if (each.link.nccl_rate() < fastest->link.nccl_rate()) cluster.slower_nics.push_back(each.link);
  }
}

/// PCIe of a GPU that has a rank: the slowest, which the others wait for. With a rank on every GPU it is the
/// fastest: NICs behind a slower one are not reached, and were dropped.
double gpu_path(const topology::Host& host, int ranks) {
  double slowest = 0;
  double fastest = 0;
  for (int i = 0; i < ranks; ++i) {
    const auto& address = host.gpus[static_cast<std::size_t>(i)].pci_address;
    const double rate = pcie_of(host, address.value_or(""));
    slowest = lower_known(slowest, rate);
    fastest = std::max(fastest, rate);
  }
  return ranks < static_cast<int>(host.gpus.size()) ? slowest : fastest;
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
                      "a log of theirs is imported without --topology; topo show and topo diff read them");
  }
  const topology::GpuModel* known = topology::find_gpu_model(model);
  cluster.gpu = known != nullptr ? std::string(known->name)
                : model.empty()  ? std::string(kUnknownGpu)
                                 : model;
  const auto sm = topology::sm_of(host, host.gpus[0]);
  if (!sm && topology::nvlinks_of(host, gpu(0)) > 0) {
    throw usage_error(
        where, "the GPU model is unknown, so the rate of its NVLinks is not known",
        fmt::format(
            "put it together with nvidia-smi -q -x > q.xml; collbench topo save {} q.xml -o node.json",
            where));
  }
  // Through the host it is the host's links that bound a ring, whatever the GPU.
  if (!sm) cluster.gpu = model.empty() ? "unknown GPU" : fmt::format("unknown GPU ({})", model);
  cluster.sm = sm.value_or(0);
  cluster.nodes = nodes;
  cluster.ranks_per_node = ranks_per_node == 0 ? gpus : ranks_per_node;
  cluster.nvlinks = nvlinks_among(host, cluster.ranks_per_node);
  cluster.nvswitch = cluster.nvlinks > 0 && behind_switches(host, cluster.sm);
  if (cluster.nvlinks == 0 && cluster.ranks_per_node > 1) find_host_path(host, cluster);
  find_nics(host, cluster);
  cluster.amd_cpu = std::any_of(
      host.numa_nodes.begin(), host.numa_nodes.end(),
      [](const topology::NumaNode& node) { return node.cpu_vendor.value_or("") == "AuthenticAMD"; });
  cluster.transport = cluster.nic_transport = analysis::transport_of(host, cluster.sm);
  cluster.gpu_path = gpu_path(host, cluster.ranks_per_node);
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

std::optional<NicLink> slowest_nic(const topology::Host& healthy, const topology::Host& now) {
  std::optional<NicLink> slowest;
  if (now.nics.size() != healthy.nics.size() || now.gpus.size() != healthy.gpus.size()) return slowest;
  std::vector<PlacedNic> nics;
  for (const int index : fast_enough_nics(healthy)) nics.push_back(placed_nic(now, index));
  for (PlacedNic& each : nics) {
    // Each GPU carries its share of the channels of the NICs beside it.
    const auto beside = static_cast<double>(std::count_if(
        nics.begin(), nics.end(), [&](const PlacedNic& other) { return other.gpus == each.gpus; }));
    const double per_gpu = std::max(1.0, beside / std::max(1.0, static_cast<double>(each.gpus.size())));
    each.link.path = lower_known(each.link.path, each.slowest_gpu / per_gpu);
    if (!slowest || each.link.nccl_rate() < slowest->nccl_rate()) slowest = each.link;
  }
  return slowest;
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
