#include "topology/graph/merge.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "topology/graph/facts.hpp"
#include "topology/graph/lookup.hpp"
#include "topology/graph/nics.hpp"
#include "topology/graph/path.hpp"

namespace collbench::topology {
namespace {

template <class T>
bool agree(const T& a, const T& b) {
  // CUDA counts the memory that a program can have, nvidia-smi all of it: they differ by about 1 %.
  if constexpr (std::same_as<T, std::uint64_t>) {
    return std::fabs(static_cast<double>(a) - static_cast<double>(b)) <=
           0.02 * static_cast<double>(std::max(a, b));
  }
  // hwloc rounds to six digits.
  if constexpr (std::same_as<T, double>) return std::fabs(a - b) <= 1e-3 * std::max(a, b);
  return a == b;
}

template <class T>
bool same_known(const Fact<T>& a, const Fact<T>& b) {
  return a.known() && a.value == b.value;
}

template <class T>
bool different_known(const Fact<T>& a, const Fact<T>& b) {
  return a.known() && b.known() && a.value != b.value;
}

bool share_a_port(const Nic& a, const Nic& b) {
  return std::ranges::any_of(a.ports, [&b](const NicPort& port) {
    return std::ranges::any_of(b.ports,
                               [&port](const NicPort& other) { return other.number == port.number; });
  });
}

/// Adds one reading after the other to a growing graph.
class Merger {
 public:
  void add(const Host& reading) {
    offset_ = static_cast<int>(host_.sources.size());
    host_.sources.insert(host_.sources.end(), reading.sources.begin(), reading.sources.end());
    merge_facts("host", host_, reading);
    for (const NumaNode& node : reading.numa_nodes) add_numa_node(node);
    for (const PciDevice& device : reading.pci_devices) add_pci_device(device);
    gpu_at_ = add_devices(reading.gpus, host_.gpus, [&](const Gpu& gpu) { return find_gpu(gpu, reading); });
    nic_at_ = add_devices(reading.nics, host_.nics, [&](const Nic& nic) { return find_nic(nic); });
    nvswitch_at_ = add_devices(reading.nvswitches, host_.nvswitches, [&](const NvSwitch& nvswitch) {
      return find(host_.nvswitches,
                  [&](const NvSwitch& s) { return same_known(s.pci_address, nvswitch.pci_address); });
    });
    add_links(reading.nvlinks, host_.nvlinks, reading);
    add_links(reading.stated_paths, host_.stated_paths, reading);
    add_links(reading.peer_access, host_.peer_access, reading);
    add_graphs(reading);
    for (Disagreement d : reading.disagreements) {
      d.kept_source += offset_;
      d.other_source += offset_;
      host_.disagreements.push_back(std::move(d));
    }
    for (const HostNote& note : reading.notes) {
      if (std::ranges::find(host_.notes, note) == host_.notes.end()) host_.notes.push_back(note);
    }
  }

  Host take() {
    leave_out_nameless_nics();
    compare_stated_paths();
    return std::move(host_);
  }

 private:
  template <class Items, class Same>
  static int find(const Items& items, Same same) {
    const auto found = std::ranges::find_if(items, same);
    return found == items.end() ? -1 : static_cast<int>(found - items.begin());
  }

  /// Facts of `from` that are new go into `into`; those that differ are noted under `device`.
  template <class Item>
  void merge_facts(const std::string& device, Item& into, const Item& from) {
    each_fact(
        [&]<class T>(const char* name, Fact<T>& kept, const Fact<T>& other) {
          if (!other.known()) return;
          if (!kept.known()) {
            kept = {other.value, other.source + offset_};
          } else if (!agree(*kept.value, *other.value) && std::string_view(name) != "link_rate_now") {
            // The rate of an idle link changes from one look to the next: that is no disagreement.
            host_.disagreements.push_back({device, name, fact_text(*kept.value), kept.source,
                                           fact_text(*other.value), other.source + offset_});
          }
        },
        into, from);
  }

  /// The one with the key of `item`, at the end where there was none.
  template <class Item, class Key>
  static Item& known_or_new(std::vector<Item>& items, Key Item::* key, const Item& item) {
    const auto known = std::ranges::find(items, item.*key, key);
    if (known != items.end()) return *known;
    items.emplace_back().*key = item.*key;
    return items.back();
  }

  void add_numa_node(const NumaNode& node) {
    merge_facts(fmt::format("NUMA {}", node.index), known_or_new(host_.numa_nodes, &NumaNode::index, node),
                node);
  }

  void add_pci_device(const PciDevice& device) {
    PciDevice& known = known_or_new(host_.pci_devices, &PciDevice::address, device);
    if (known.parent.empty()) {
      known.parent = device.parent;  // nvidia-smi shows no tree, and NCCL leaves bridges out
    } else if (!device.parent.empty() && device.parent != known.parent) {
      host_.disagreements.push_back({"PCI " + device.address, "parent", known.parent, known.class_code.source,
                                     device.parent, device.class_code.source + offset_});
    }
    merge_facts("PCI " + device.address, known, device);
  }

  template <class Item, class Find>
  std::vector<int> add_devices(const std::vector<Item>& from, std::vector<Item>& into, Find find_known) {
    std::vector<int> positions;
    for (const Item& item : from) {
      int at = find_known(item);
      if (at < 0) {
        at = static_cast<int>(into.size());
        into.emplace_back();
      }
      merge_device(item, into[static_cast<std::size_t>(at)], at);
      positions.push_back(at);
    }
    return positions;
  }

  void merge_device(const Gpu& from, Gpu& into, int at) {
    merge_facts(fmt::format("GPU {}", at), into, from);
  }

  void merge_device(const NvSwitch& from, NvSwitch& into, int at) {
    merge_facts(fmt::format("NVSwitch {}", at), into, from);
  }

  void merge_device(const Nic& from, Nic& into, int at) {
    Nic aligned = from;
    // NCCL gives all functions of a card the address of function 0 (2.30 src/transport/net_ib/init.cc).
    if (different_known(into.pci_address, from.pci_address) &&
        into.pci_address.value->substr(0, into.pci_address.value->size() - 1) ==
            from.pci_address.value->substr(0, from.pci_address.value->size() - 1)) {
      if (*into.pci_address.value < *from.pci_address.value) {
        into.pci_address = {from.pci_address.value, from.pci_address.source + offset_};
      }
      aligned.pci_address = {};
    }
    // A card with two ports on one function has an interface for each.
    if (different_known(into.interfaces, from.interfaces)) {
      if (into.interfaces.value->find(*from.interfaces.value) == std::string::npos) {
        *into.interfaces.value += "," + *from.interfaces.value;
      }
      aligned.interfaces = {};
    }
    const std::string label = from.name.value_or(from.interfaces.value_or(fmt::format("NIC {}", at)));
    merge_facts(label, into, aligned);
    for (const NicPort& port : from.ports)
      merge_facts(fmt::format("{} port {}", label, port.number),
                  known_or_new(into.ports, &NicPort::number, port), port);
  }

  /// nvidia-smi numbers GPUs by PCI address: with all addresses known, so do we.
  static std::optional<int> index_by_order(const Gpu& gpu, const std::vector<Gpu>& all) {
    if (gpu.index.known()) return gpu.index.value;
    int before = 0;
    for (const Gpu& other : all) {
      if (!other.pci_address.known() || !gpu.pci_address.known()) return std::nullopt;
      if (*other.pci_address.value < *gpu.pci_address.value) ++before;
    }
    return before;
  }

  [[nodiscard]] int find_gpu(const Gpu& gpu, const Host& reading) const {
    const int by_uuid = find(host_.gpus, [&gpu](const Gpu& known) {
      return same_known(known.uuid, gpu.uuid) && !is_masked_uuid(*gpu.uuid.value);
    });
    if (by_uuid >= 0) return by_uuid;
    const int by_address =
        find(host_.gpus, [&gpu](const Gpu& known) { return same_known(known.pci_address, gpu.pci_address); });
    if (by_address >= 0) return by_address;
    const auto index = index_by_order(gpu, reading.gpus);
    if (!index) return -1;
    return find(host_.gpus, [&](const Gpu& known) {
      const bool other_uuid = different_known(known.uuid, gpu.uuid) && !is_masked_uuid(*gpu.uuid.value) &&
                              !is_masked_uuid(*known.uuid.value);
      const bool other_address = different_known(known.pci_address, gpu.pci_address);
      return index_by_order(known, host_.gpus) == index && !other_uuid && !other_address;
    });
  }

  [[nodiscard]] int find_nic(const Nic& nic) const {
    const int by_name =
        find(host_.nics, [&nic](const Nic& known) { return same_known(known.name, nic.name); });
    if (by_name >= 0) return by_name;
    const int by_number =
        find(host_.nics, [&nic](const Nic& known) { return same_known(known.nccl_net, nic.nccl_net); });
    if (by_number >= 0 && !nic.name.known()) return by_number;
    if (const int by_rule = find_nic_named_after_its_address(nic); by_rule >= 0) return by_rule;
    // Two ports of a card may be two NICs at one address: the one with the same port, else the first of them,
    // in whatever order they were listed.
    int found = -1;
    for (const int i : nic_order(host_)) {
      const Nic& known = host_.nics[static_cast<std::size_t>(i)];
      if (!same_known(known.pci_address, nic.pci_address) || different_known(known.name, nic.name)) continue;
      if (share_a_port(known, nic)) return i;
      if (found < 0) found = i;
    }
    return found;
  }

  /// The one at the address that its name tells, or named after its address.
  [[nodiscard]] int find_nic_named_after_its_address(const Nic& nic) const {
    const auto address =
        nic.pci_address.known() ? nic.pci_address.value : pci_address_in_name(nic.name.value_or(""));
    if (!address) return -1;
    return find(host_.nics, [&](const Nic& known) {
      if (known.name.known() == nic.name.known() || known.pci_address.known() == nic.pci_address.known())
        return false;
      return (known.pci_address.known() ? known.pci_address.value
                                        : pci_address_in_name(known.name.value_or(""))) == address;
    });
  }

  [[nodiscard]] Device moved(const Device& device, const Host& reading) const {
    const auto at = static_cast<std::size_t>(device.index);
    switch (device.kind) {
      case DeviceKind::gpu:
        return {device.kind, gpu_at_.at(at)};
      case DeviceKind::nic:
        return {device.kind, nic_at_.at(at)};
      case DeviceKind::nvswitch:
        return {device.kind, nvswitch_at_.at(at)};
      case DeviceKind::numa_node:
        break;
    }
    const int index = reading.numa_nodes.at(at).index;
    return {device.kind,
            find(host_.numa_nodes, [index](const NumaNode& node) { return node.index == index; })};
  }

  template <class Link>
  void add_links(const std::vector<Link>& from, std::vector<Link>& into, const Host& reading) {
    for (const Link& link : from) {
      const Device a = moved(link.from, reading);
      const Device b = moved(link.to, reading);
      int at = find(into, [&](const Link& known) { return known.from == a && known.to == b; });
      if (at < 0) {
        at = static_cast<int>(into.size());
        Link fresh;
        fresh.from = a;
        fresh.to = b;
        into.push_back(fresh);
      }
      merge_facts(pair_label(a, b), into[static_cast<std::size_t>(at)], link);
    }
  }

  /// One graph for each id: the channels of the first are kept whole.
  void add_graphs(const Host& reading) {
    for (const ChannelGraph& graph : reading.nccl_graphs) {
      std::vector<std::vector<Device>> channels = graph.channels;
      for (auto& channel : channels) {
        for (Device& device : channel) device = moved(device, reading);
      }
      const std::string label = nccl_graph_name(graph.id);
      const int at =
          find(host_.nccl_graphs, [&graph](const ChannelGraph& known) { return known.id == graph.id; });
      if (at < 0) {
        host_.nccl_graphs.emplace_back().id = graph.id;
        host_.nccl_graphs.back().channels = std::move(channels);
        merge_facts(label, host_.nccl_graphs.back(), graph);
        continue;
      }
      ChannelGraph& known = host_.nccl_graphs[static_cast<std::size_t>(at)];
      if (known.channels != channels) {
        host_.disagreements.push_back({label, "channels", std::to_string(known.channels.size()),
                                       known.pattern.source, std::to_string(channels.size()),
                                       graph.pattern.source + offset_});
      }
      merge_facts(label, known, graph);
    }
  }

  [[nodiscard]] std::string pair_label(const Device& a, const Device& b) const {
    return device_label(host_, a) + " – " + device_label(host_, b);
  }

  /// Whether a function may be one of the RDMA devices that have a name and no address. A matrix lists all
  /// devices of the host; ibstat those that have management datagrams, so only their maker's functions count.
  [[nodiscard]] bool may_be_named(const Nic& function, bool in_matrix) const {
    if (in_matrix) return true;
    const PciDevice* pci = find_pci_device(host_, *function.pci_address.value);
    const std::string vendor = pci == nullptr ? std::string() : pci->vendor.value_or("");
    return std::ranges::any_of(host_.nics, [&vendor](const Nic& nic) {
      return !nic.pci_address.known() && !vendor.empty() &&
             vendor == vendor_of_rdma_name(nic.name.value_or(""));
    });
  }

  /// lspci lists functions without names, a matrix and ibstat RDMA devices without addresses: where neither
  /// can be told to be the other, they are one set of NICs and counted once, as the devices that NCCL sees.
  void leave_out_nameless_nics() {
    const bool matrix = std::ranges::any_of(host_.stated_paths, [this](const StatedPath& path) {
      return path.from.kind == DeviceKind::nic &&
             !host_.nics[static_cast<std::size_t>(path.from.index)].pci_address.known();
    });
    const auto named = [](const Nic& nic) {
      return (nic.name.known() || nic.label.known()) && !nic.pci_address.known();
    };
    const auto nameless = [this, matrix](const Nic& nic) {
      return nic.pci_address.known() && !nic.name.known() && !nic.label.known() && !nic.interfaces.known() &&
             !nic.nccl_net.known() && may_be_named(nic, matrix);
    };
    const auto devices = std::ranges::count_if(host_.nics, named);
    const auto functions = std::ranges::count_if(host_.nics, nameless);
    if (devices == 0 || functions == 0) return;
    std::vector<int> moved_to;
    std::vector<Nic> kept;
    for (const Nic& nic : host_.nics) {
      const bool left_out = nameless(nic);
      moved_to.push_back(left_out ? -1 : static_cast<int>(kept.size()));
      if (!left_out) kept.push_back(nic);
    }
    host_.nics = std::move(kept);
    const auto renumber = [&moved_to](Device& device) {
      if (device.kind == DeviceKind::nic) device.index = moved_to.at(static_cast<std::size_t>(device.index));
    };
    for (StatedPath& path : host_.stated_paths) {
      renumber(path.from);
      renumber(path.to);
    }
    for (ChannelGraph& graph : host_.nccl_graphs) {
      for (auto& channel : graph.channels) std::ranges::for_each(channel, renumber);
    }
    host_.notes.emplace_back(
        fmt::format("{} NIC functions have an address and no name, {} RDMA devices a name and no address: "
                    "counted are the devices; ls -l /sys/class/infiniband tells which is which",
                    functions, devices));
  }

  void compare_stated_paths() {
    for (const StatedPath& stated : host_.stated_paths) {
      if (!stated.type.known() || stated.nvlinks.known()) continue;
      const auto by_tree = pci_path_type(host_, stated.from, stated.to);
      // Without host bridges in the tree NODE cannot be distinguished from PHB.
      const bool same = !by_tree || by_tree == stated.type.value ||
                        (by_tree == PathType::phb && stated.type.value == PathType::node);
      if (same) continue;
      const PciDevice* device = find_pci_device(host_, stated.from);
      host_.disagreements.push_back({pair_label(stated.from, stated.to), "path",
                                     fact_text(*stated.type.value), stated.type.source, fact_text(*by_tree),
                                     device != nullptr ? device->class_code.source : stated.type.source});
    }
  }

  Host host_;
  int offset_ = 0;
  std::vector<int> gpu_at_;
  std::vector<int> nic_at_;
  std::vector<int> nvswitch_at_;
};

}  // namespace

bool is_masked_uuid(std::string_view uuid) {
  return uuid.find_first_not_of("GPU-0") == std::string_view::npos;
}

Host merge_hosts(const std::vector<Host>& readings) {
  Merger merger;
  for (const Host& reading : readings) merger.add(reading);
  return merger.take();
}

}  // namespace collbench::topology
