#include "topology/graph/lookup.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "topology/graph/cpu_list.hpp"
#include "topology/graph/facts.hpp"

namespace collbench::topology {
namespace {

template <class T>
const T& at(const std::vector<T>& items, const Device& device) {
  return items.at(static_cast<std::size_t>(device.index));
}

std::size_t count_of(const Host& host, DeviceKind kind) {
  switch (kind) {
    case DeviceKind::gpu:
      return host.gpus.size();
    case DeviceKind::nic:
      return host.nics.size();
    case DeviceKind::nvswitch:
      return host.nvswitches.size();
    case DeviceKind::numa_node:
      return host.numa_nodes.size();
  }
  return 0;
}

bool exists(const Host& host, const Device& device) {
  return device.index >= 0 && static_cast<std::size_t>(device.index) < count_of(host, device.kind);
}

template <class Item>
bool sources_exist(const Host& host, const Item& item) {
  bool all = true;
  each_fact(
      [&]<class T>(const char*, const Fact<T>& fact) {
        if (fact.known() &&
            (fact.source < 0 || static_cast<std::size_t>(fact.source) >= host.sources.size())) {
          all = false;
        }
      },
      item);
  return all;
}

template <class... Lists>
bool all_sources_exist(const Host& host, const Lists&... lists) {
  const auto all_of = [&host](const auto& list) {
    return std::ranges::all_of(list, [&host](const auto& item) { return sources_exist(host, item); });
  };
  return (all_of(lists) && ...);
}

constexpr int kRing = 0;

bool is_before(const Device& a, const Device& b) {
  return std::pair(a.kind, a.index) < std::pair(b.kind, b.index);
}

/// Between GPUs alone it has no first one.
bool is_closed(const ChannelGraph& graph, const std::vector<Device>& channel) {
  return graph.id == kRing && channel.size() > 1 && channel.front().kind == DeviceKind::gpu;
}

/// As the bridge shows it now, else as it could be; 0: not known.
int shown_width(const PciDevice& bridge) {
  const int now = bridge.link_now.width.value_or(0);
  return now > 0 ? now : bridge.link_max.width.value_or(0);
}

/// None where it is not known.
std::optional<double> shown_rate(const PciDevice& bridge) {
  const Fact<double>& most = bridge.link_max.gigatransfers_per_second;
  return most.known() ? most.value : bridge.link_now.gigatransfers_per_second.value;
}

bool has_a_virtual_link(const PciDevice& device) {
  constexpr double kFirstGeneration = 2.5;
  if (!device.class_code.value_or("0x0604").starts_with("0x0604")) return false;
  const auto rate = shown_rate(device);
  if (!rate || *rate <= 0 || *rate > kFirstGeneration) return false;
  const int width = shown_width(device);
  // The rate now may be that of an idle link of a real bridge: without its lanes it says nothing.
  return width == 1 || (width == 0 && device.link_max.gigatransfers_per_second.known());
}

}  // namespace

const PciDevice* find_pci_device(const Host& host, std::string_view address) {
  const auto found = std::ranges::find(host.pci_devices, address, &PciDevice::address);
  return found == host.pci_devices.end() ? nullptr : &*found;
}

const PciDevice* find_pci_device(const Host& host, const Device& device) {
  return find_pci_device(host, pci_address_of(host, device).value_or(""));
}

std::optional<std::string> pci_address_of(const Host& host, const Device& device) {
  switch (device.kind) {
    case DeviceKind::gpu:
      return at(host.gpus, device).pci_address.value;
    case DeviceKind::nic:
      return at(host.nics, device).pci_address.value;
    case DeviceKind::nvswitch:
      return at(host.nvswitches, device).pci_address.value;
    case DeviceKind::numa_node:
      return std::nullopt;
  }
  return std::nullopt;
}

std::vector<const PciDevice*> way_to_root(const Host& host, std::string_view address) {
  std::vector<const PciDevice*> way;
  // find_inconsistency() refuses loops; the bound keeps a graph that was not checked from hanging us.
  for (const PciDevice* device = find_pci_device(host, address);
       device != nullptr && way.size() <= host.pci_devices.size();
       device = find_pci_device(host, device->parent)) {
    way.push_back(device);
  }
  return way;
}

std::vector<const PciDevice*> way_to_root(const Host& host, const Device& device) {
  return way_to_root(host, pci_address_of(host, device).value_or(""));
}

bool is_virtual_bridge(const Host& host, const PciDevice& device) {
  if (!has_a_virtual_link(device)) return false;
  const PciDevice* above = find_pci_device(host, device.parent);
  return above == nullptr || !has_a_virtual_link(*above);
}

std::string virtual_link_text(const PciDevice& bridge) {
  const int width = shown_width(bridge);
  return fmt::format("{} GT/s{}", shown_rate(bridge).value_or(0),
                     width > 0 ? fmt::format(" x{}", width) : ", width unknown");
}

std::optional<int> only_numa_node(const Host& host) {
  if (host.numa_nodes.size() != 1) return std::nullopt;
  return host.numa_nodes.front().index;
}

std::optional<int> numa_node_of(const Host& host, const Device& device) {
  if (device.kind == DeviceKind::numa_node) return at(host.numa_nodes, device).index;
  if (device.kind == DeviceKind::nic && at(host.nics, device).numa_node.known()) {
    return at(host.nics, device).numa_node.value;
  }
  for (const PciDevice* step : way_to_root(host, device)) {
    if (step->numa_node.known()) return step->numa_node.value;
  }
  if (device.kind == DeviceKind::gpu) {
    const auto nodes = parse_cpu_list(at(host.gpus, device).numa_affinity.value_or(""));
    if (nodes && nodes->size() == 1) return nodes->front();
  }
  return only_numa_node(host);
}

std::string device_label(const Host& host, const Device& device) {
  switch (device.kind) {
    case DeviceKind::gpu:
      return fmt::format("GPU{}", at(host.gpus, device).index.value_or(device.index));
    case DeviceKind::nic: {
      const Nic& nic = at(host.nics, device);
      const std::string number = nic.nccl_net.known() ? fmt::format("NET{}", *nic.nccl_net.value)
                                                      : fmt::format("NIC{}", device.index);
      const std::string fallback = nic.label.value_or(nic.pci_address.value_or(number));
      return nic.name.value_or(nic.interfaces.value_or(fallback));
    }
    case DeviceKind::nvswitch:
      return fmt::format("NVSwitch {}", at(host.nvswitches, device).pci_address.value_or("?"));
    case DeviceKind::numa_node:
      return fmt::format("NUMA {}", at(host.numa_nodes, device).index);
  }
  return {};
}

std::vector<Device> gpus_and_nics(const Host& host) {
  std::vector<Device> devices;
  for (const DeviceKind kind : {DeviceKind::gpu, DeviceKind::nic}) {
    const int count = static_cast<int>(count_of(host, kind));
    for (int i = 0; i < count; ++i) devices.push_back({kind, i});
  }
  return devices;
}

const StatedPath* find_stated_path(const Host& host, const Device& from, const Device& to) {
  const StatedPath* backward = nullptr;
  for (const StatedPath& path : host.stated_paths) {
    if (path.from == from && path.to == to) return &path;
    if (path.from == to && path.to == from) backward = &path;
  }
  return backward;
}

std::string nccl_graph_name(int id) {
  constexpr std::array<std::string_view, 5> kNames{"ring", "tree", "CollNet chain", "NVLS", "CollNet direct"};
  if (id < 0 || static_cast<std::size_t>(id) >= kNames.size()) return fmt::format("NCCL's graph {}", id);
  return fmt::format("NCCL's {}", kNames.at(static_cast<std::size_t>(id)));
}

std::string channel_text(const Host& host, const ChannelGraph& graph, const std::vector<Device>& channel) {
  std::string text;
  for (const Device& device : channel) text += (text.empty() ? "" : " → ") + device_label(host, device);
  if (is_closed(graph, channel)) text += " → " + device_label(host, channel.front());
  return text;
}

std::vector<std::vector<Device>> sorted_channels(const ChannelGraph& graph) {
  std::vector<std::vector<Device>> sorted = graph.channels;
  for (std::vector<Device>& channel : sorted) {
    if (is_closed(graph, channel))
      std::rotate(channel.begin(), std::ranges::min_element(channel, is_before), channel.end());
  }
  std::ranges::sort(sorted, [](const auto& a, const auto& b) {
    return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end(), is_before);
  });
  return sorted;
}

const GpuModel* find_gpu_model(const Host& host, const Gpu& gpu) {
  if (const GpuModel* model = find_gpu_model(gpu.model.value_or(""))) return model;
  const PciDevice* pci = find_pci_device(host, gpu.pci_address.value_or(""));
  return pci == nullptr ? nullptr : find_gpu_model_by_pci(pci->vendor.value_or(""), pci->device.value_or(""));
}

std::optional<int> sm_of(const Host& host, const Gpu& gpu) {
  if (gpu.sm.known()) return gpu.sm.value;
  const GpuModel* model = find_gpu_model(host, gpu);
  return model == nullptr ? std::nullopt : std::optional(model->sm);
}

std::optional<GpuGeneration> generation_of(const Host& host, const Gpu& gpu) {
  const auto sm = sm_of(host, gpu);
  return sm ? std::optional(generation_of(*sm)) : std::nullopt;
}

void drop_idle_bridges(Host& host) {
  std::set<std::string> used;
  const auto use = [&](const auto& devices) {
    for (const auto& device : devices) {
      for (const PciDevice* step : way_to_root(host, device.pci_address.value_or("")))
        used.insert(step->address);
    }
  };
  use(host.gpus);
  use(host.nics);
  use(host.nvswitches);
  std::erase_if(host.pci_devices,
                [&used](const PciDevice& device) { return !used.contains(device.address); });
}

std::string find_inconsistency(const Host& host) {
  for (const PciDevice& device : host.pci_devices) {
    if (!device.parent.empty() && find_pci_device(host, device.parent) == nullptr) {
      return fmt::format("PCI {} is below {}, which is missing", device.address, device.parent);
    }
    if (way_to_root(host, device.address).size() > host.pci_devices.size()) {
      return fmt::format("PCI {} is below itself", device.address);
    }
  }
  const auto dangling = [&host](const auto& links) {
    return std::ranges::any_of(
        links, [&host](const auto& link) { return !exists(host, link.from) || !exists(host, link.to); });
  };
  if (dangling(host.nvlinks)) return "an NVLink leads to a device that is missing";
  if (dangling(host.stated_paths)) return "a path leads to a device that is missing";
  if (dangling(host.peer_access)) return "peer access names a device that is missing";
  for (const ChannelGraph& graph : host.nccl_graphs) {
    for (const auto& channel : graph.channels) {
      if (!std::ranges::all_of(channel, [&](const Device& device) { return exists(host, device); }))
        return "a channel of NCCL's goes through a device that is missing";
    }
  }
  bool sources =
      sources_exist(host, host) &&
      all_sources_exist(host, host.numa_nodes, host.pci_devices, host.gpus, host.nvswitches, host.nics,
                        host.nvlinks, host.stated_paths, host.peer_access, host.nccl_graphs);
  for (const Nic& nic : host.nics) sources = sources && all_sources_exist(host, nic.ports);
  if (!sources) return "a fact names a source that is missing";
  return {};
}

}  // namespace collbench::topology
