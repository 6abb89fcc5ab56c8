#include "analysis/models/nccl/machine_graph.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <utility>

#include "topology/graph/lookup.hpp"
#include "topology/graph/path.hpp"
#include "topology/graph/port_state.hpp"

namespace collbench::analysis {
namespace {

// NCCL 2.30 src/graph/topo.h and topo.cc, GB/s.
constexpr float kWithinDevice = 5000;
constexpr float kAmdRate = 16;
constexpr float kArmRate = 6;

/// Hundreds of Mb/s of a lane; a rate that is not known counts as 8 GT/s.
int lane_rate(std::optional<double> gigatransfers) {
  constexpr std::array<std::pair<double, int>, 6> kRates{
      {{2.5, 15}, {5, 30}, {8, 60}, {16, 120}, {32, 240}, {64, 480}}};
  for (const auto& [rate, lanes] : kRates) {
    if (gigatransfers == rate) return lanes;
  }
  return 60;
}

/// Of NICs and switches NCCL reads the lanes that both ends could have, of a GPU those that it has now
/// (src/graph/xml.cc).
float pcie_rate(const topology::PciDevice& device, bool of_gpu) {
  const topology::PcieLink& first = of_gpu ? device.link_now : device.link_max;
  const topology::PcieLink& second = of_gpu ? device.link_max : device.link_now;
  const int width = first.width.value_or(second.width.value_or(0));
  return static_cast<float>((width == 0 ? 16 : width) *
                            lane_rate(device.link_max.gigatransfers_per_second.value) / 80.0);
}

/// Of one CPU to the others.
float cpu_rate(const topology::NumaNode& numa) {
  if (numa.architecture.value_or("x86_64") == "arm64") return kArmRate;
  const std::string vendor = numa.cpu_vendor.value_or("");
  if (vendor == "AuthenticAMD") return kAmdRate;
  if (vendor != "GenuineIntel") return kWithinDevice;
  if (numa.cpu_family.value_or(0) != 6) return 6.0F;
  const int model = numa.cpu_model.value_or(0);
  return model >= 0xCF ? 40.0F : model >= 0x8F ? 22.0F : model >= 0x55 ? 10.0F : 6.0F;
}

/// The generation of a Broadcom switch whose two levels count as one (topo.cc, getBcmGen); 0: another switch.
int broadcom_generation(const topology::PciDevice& device, int level) {
  const auto id = [](const topology::Fact<std::string>& part) { return part.value_or(""); };
  if (id(device.vendor) != "0x1000") return 0;
  const std::string sub = id(device.subsystem_device);
  const std::string group = sub.size() == 6 ? sub.substr(2, 1) : "";
  if (id(device.device) == "0xc010" && id(device.subsystem_vendor) == "0x1000" && group == "a") return 4;
  if (id(device.device) == "0xc030" && id(device.subsystem_vendor) == "0x1000" &&
      group == std::to_string(level))
    return 5;
  return 0;
}

/// Builds the graph in the order in which NCCL's fused file of all ranks lists it, because the search depends
/// on it: what the first rank keeps (its GPU and every NIC), then what each further rank adds.
class Builder {
 public:
  Builder(const topology::Host& host, int ranks, const std::vector<int>& nics)
      : host_(host), ranks_(ranks), nics_(nics) {}

  MachineGraph build() {
    if (!everything_hangs_somewhere()) return {};
    order_devices();
    for (const int numa : cpus_) add_cpu(numa);
    add_nvlinks();
    add_c2c();
    flatten_switches();
    connect_cpus();
    for (const int cpu : graph_.all(NodeKind::cpu)) sort_up(cpu, -1);
    find_kinds();
    return std::move(graph_);
  }

 private:
  [[nodiscard]] bool everything_hangs_somewhere() const {
    if (host_.numa_nodes.empty()) return false;
    const auto hangs = [this](const topology::Device& device) {
      const auto way = topology::way_to_root(host_, topology::pci_address_of(host_, device).value_or(""));
      return !way.empty() && root_of(*way.back()) >= 0;
    };
    for (int i = 0; i < ranks_; ++i) {
      if (!hangs({topology::DeviceKind::gpu, i})) return false;
      if (!topology::sm_of(host_, host_.gpus[static_cast<std::size_t>(i)])) return false;
    }
    return std::ranges::all_of(nics_, [&](int nic) { return hangs({topology::DeviceKind::nic, nic}); });
  }

  /// The position of the NUMA node of a device at the root.
  [[nodiscard]] int root_of(const topology::PciDevice& root) const {
    for (int i = 0; i < static_cast<int>(host_.numa_nodes.size()); ++i) {
      if (root.numa_node.value == host_.numa_nodes[static_cast<std::size_t>(i)].index) return i;
    }
    return -1;
  }

  void order_devices() {
    for (int rank = 0; rank < ranks_; ++rank) {
      std::vector<topology::Device> seen{{topology::DeviceKind::gpu, rank}};
      for (const int nic : nics_) seen.push_back({topology::DeviceKind::nic, nic});
      std::vector<std::string> kept;
      for (const topology::Device& device : seen) {
        for (const topology::PciDevice* each :
             topology::way_to_root(host_, topology::pci_address_of(host_, device).value_or(""))) {
          kept.push_back(each->address);
        }
      }
      for (int numa = 0; numa < static_cast<int>(host_.numa_nodes.size()); ++numa) keep(numa, kept);
    }
  }

  void keep(int numa, const std::vector<std::string>& kept) {
    bool any = false;
    for (const topology::PciDevice& device : host_.pci_devices) {
      if (!device.parent.empty() || root_of(device) != numa) continue;
      any = keep_device(device, fmt::format("cpu {}", numa), kept) || any;
    }
    if (any && std::ranges::find(cpus_, numa) == cpus_.end()) cpus_.push_back(numa);
  }

  bool keep_device(const topology::PciDevice& device, const std::string& above,
                   const std::vector<std::string>& kept) {
    if (std::ranges::find(kept, device.address) == kept.end()) return false;
    auto& children = children_[above];
    if (std::ranges::find(children, &device) == children.end()) children.push_back(&device);
    for (const topology::PciDevice& child : host_.pci_devices) {
      if (child.parent == device.address) keep_device(child, device.address, kept);
    }
    return true;
  }

  int add_node(NodeKind kind) {
    graph_.nodes.push_back({});
    graph_.nodes.back().kind = kind;
    const int index = static_cast<int>(graph_.nodes.size()) - 1;
    graph_.of_kind[static_cast<std::size_t>(kind)].push_back(index);
    return index;
  }

  GraphNode& at(int index) { return graph_.nodes[static_cast<std::size_t>(index)]; }

  /// Links of one kind to the same node are one; the fastest come first.
  void connect(int from, int to, LinkKind kind, float rate) {
    std::vector<GraphLink>& links = at(from).links;
    auto link = std::ranges::find_if(
        links, [&](const GraphLink& each) { return each.to == to && each.kind == kind; });
    if (link == links.end()) link = links.insert(links.end(), {kind, to, 0});
    link->rate += rate;
    while (link != links.begin() && std::prev(link)->rate < link->rate) {
      std::iter_swap(link, std::prev(link));
      --link;
    }
  }

  void connect_both(int a, int b, LinkKind kind, float rate) {
    connect(a, b, kind, rate);
    connect(b, a, kind, rate);
  }

  void add_cpu(int numa) {
    const int cpu = add_node(NodeKind::cpu);
    for (const topology::PciDevice* device : children_[fmt::format("cpu {}", numa)]) add_pci(*device, cpu);
  }

  void add_pci(const topology::PciDevice& device, int above) {
    const auto is_here = [&device](const topology::Gpu& gpu) {
      return gpu.pci_address.value == device.address;
    };
    const float rate = pcie_rate(device, std::ranges::any_of(host_.gpus, is_here));
    for (int gpu = 0; gpu < ranks_; ++gpu) {
      if (is_here(host_.gpus[static_cast<std::size_t>(gpu)])) add_gpu(gpu, above, rate);
    }
    std::vector<int> here;
    for (const int nic : nics_) {
      if (host_.nics[static_cast<std::size_t>(nic)].pci_address.value == device.address) here.push_back(nic);
    }
    int index = -1;
    if (!here.empty()) {
      index = add_node(NodeKind::nic);
      for (const int nic : here) add_nets(nic, index);
    } else if (!device.class_code.value_or("0x0604").starts_with("0x03")) {
      index = add_node(NodeKind::pcie);
      at(index).card = device.address;
      for (const topology::PciDevice* child : children_[device.address]) add_pci(*child, index);
    }
    if (index >= 0) connect_both(index, above, LinkKind::pcie, rate);
  }

  void add_gpu(int gpu, int above, float rate) {
    const topology::Gpu& facts = host_.gpus[static_cast<std::size_t>(gpu)];
    const int device = add_node(NodeKind::device);
    at(device).device = gpu;
    connect_both(device, above, LinkKind::pcie, rate);
    const int chip = add_node(NodeKind::gpu);
    at(chip).device = gpu;
    at(chip).gpudirect = facts.gpudirect.value_or(true);
    connect_both(device, chip, LinkKind::local, kWithinDevice);
    const auto generation = topology::generation_of(host_, facts).value_or(GpuGeneration::unknown);
    const bool is_first = graph_.generation == GpuGeneration::unknown;
    graph_.generation = is_first ? generation : std::min(graph_.generation, generation);
    devices_[gpu] = device;
  }

  void add_nets(int nic, int above) {
    const topology::Nic& facts = host_.nics[static_cast<std::size_t>(nic)];
    for (const topology::NicPort& port : facts.ports) {
      if (!topology::may_carry_traffic(port)) continue;
      const int net = add_node(NodeKind::net);
      GraphNode& node = at(net);
      node.device = nic;
      node.card = facts.system_guid.value_or(fmt::format("NIC {}", nic));
      node.port = port.number;
      node.gpudirect = facts.gpudirect.value_or(true);
      node.rate = static_cast<float>(port.gigabits_per_second.value_or(10) / 8);
      const float rate = node.rate;
      connect_both(above, net, LinkKind::network, rate);
    }
  }

  void add_nvlinks() {
    for (const int device : graph_.all(NodeKind::device)) {
      const int gpu = at(device).device;
      const auto generation = topology::generation_of(host_, host_.gpus[static_cast<std::size_t>(gpu)]);
      const topology::LinkRate link = topology::traits(generation.value_or(GpuGeneration::unknown)).nvlink;
      const auto one = static_cast<float>(link.gigabytes_per_second);
      const topology::Device self{topology::DeviceKind::gpu, gpu};
      if (topology::has_nvswitch(host_) || links_lead_to_switches_) {
        if (const int links = topology::nvlinks_of(host_, self); links > 0) {
          if (graph_.all(NodeKind::nvswitch).empty()) add_node(NodeKind::nvswitch);
          connect_both(device, graph_.all(NodeKind::nvswitch)[0], LinkKind::nvlink,
                       static_cast<float>(links) * one);
        }
        continue;
      }
      for (const auto& [peer, other] : devices_) {
        const int links =
            peer == gpu ? 0 : topology::nvlinks_between(host_, self, {topology::DeviceKind::gpu, peer});
        if (links > 0) connect(device, other, LinkKind::nvlink, static_cast<float>(links) * one);
      }
    }
  }

  /// The CPU above a device, through PCIe switches only.
  [[nodiscard]] int cpu_above(int index, int from) {
    if (at(index).kind == NodeKind::cpu) return index;
    for (const GraphLink& link : at(index).links) {
      const NodeKind kind = at(link.to).kind;
      if (link.kind != LinkKind::pcie || link.to == from || (kind != NodeKind::pcie && kind != NodeKind::cpu))
        continue;
      if (const int cpu = cpu_above(link.to, index); cpu >= 0) return cpu;
    }
    return -1;
  }

  void add_c2c() {
    for (const int device : graph_.all(NodeKind::device)) {
      const topology::Gpu& facts = host_.gpus[static_cast<std::size_t>(at(device).device)];
      if (facts.c2c_links.value_or(0) == 0) continue;
      const int cpu = cpu_above(device, -1);
      if (cpu >= 0) {
        connect_both(device, cpu, LinkKind::c2c,
                     static_cast<float>(facts.c2c_gigabytes_per_second.value_or(0)));
      }
    }
  }

  /// The second level of the Broadcom switch at `index`; empty for any other device.
  std::vector<int> second_level(int index) {
    const topology::PciDevice* device = topology::find_pci_device(host_, at(index).card);
    const int generation = device == nullptr ? 0 : broadcom_generation(*device, 0);
    std::vector<int> below;
    if (generation == 0) return below;
    for (const GraphLink& link : at(index).links) {
      if (at(link.to).kind != NodeKind::pcie) continue;
      const topology::PciDevice* lower = topology::find_pci_device(host_, at(link.to).card);
      if (lower != nullptr && lower->parent == device->address &&
          broadcom_generation(*lower, 1) == generation)
        below.push_back(link.to);
    }
    return below;
  }

  /// What hangs on `lower` hangs on `upper` then.
  void move_links_up(int lower, int upper) {
    for (const GraphLink& link : at(lower).links) {
      if (link.to == upper) continue;
      at(upper).links.push_back(link);
      for (GraphLink& up : at(link.to).links) {
        if (up.to == lower) up.to = upper;
      }
    }
    at(lower).links.clear();
  }

  /// Devices below the second level of a Broadcom switch hang on the first, which sustains them all.
  void flatten_switches() {
    std::vector<int> gone;
    const auto is_gone = [&gone](int index) { return std::ranges::find(gone, index) != gone.end(); };
    for (const int index : graph_.all(NodeKind::pcie)) {
      if (is_gone(index)) continue;
      const std::vector<int> below = second_level(index);
      std::erase_if(at(index).links, [&below](const GraphLink& link) {
        return std::ranges::find(below, link.to) != below.end();
      });
      for (const int lower : below) move_links_up(lower, index);
      gone.insert(gone.end(), below.begin(), below.end());
    }
    std::erase_if(graph_.of_kind[static_cast<std::size_t>(NodeKind::pcie)], is_gone);
  }

  void connect_cpus() {
    const std::vector<int>& cpus = graph_.all(NodeKind::cpu);
    for (std::size_t i = 0; i < cpus.size(); ++i) {
      const float rate = cpu_rate(host_.numa_nodes[static_cast<std::size_t>(cpus_[i])]);
      for (const int other : cpus) {
        if (other != cpus[i]) connect(cpus[i], other, LinkKind::system, rate);
      }
    }
  }

  /// The link up comes last.
  void sort_up(int index, int above) {
    std::vector<GraphLink>& links = at(index).links;
    const auto up = std::ranges::find(links, above, &GraphLink::to);
    if (up != links.end()) std::rotate(up, std::next(up), links.end());
    for (const GraphLink& link : std::vector<GraphLink>(links)) {
      if (link.kind == LinkKind::pcie && link.to != above) sort_up(link.to, index);
    }
  }

  void find_kinds() {
    const topology::NumaNode& first = host_.numa_nodes[static_cast<std::size_t>(cpus_.front())];
    const std::string vendor = first.cpu_vendor.value_or("");
    graph_.x86 = first.architecture.value_or("x86_64") == "x86_64";
    if (vendor == "GenuineIntel") graph_.cpu = CpuKind::intel;
    if (vendor == "AuthenticAMD") graph_.cpu = CpuKind::amd;
  }

  const topology::Host& host_;
  int ranks_;
  const std::vector<int>& nics_;
  MachineGraph graph_;
  std::vector<int> cpus_;  ///< positions of the NUMA nodes, in order
  std::map<std::string, std::vector<const topology::PciDevice*>> children_;
  std::map<int, int> devices_;  ///< the device of each GPU
  bool links_lead_to_switches_ = false;
};

}  // namespace

MachineGraph machine_graph(const topology::Host& host, int ranks, const std::vector<int>& nics) {
  return Builder(host, ranks, nics).build();
}

}  // namespace collbench::analysis
