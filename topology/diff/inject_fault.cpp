#include "topology/diff/topology_diff.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "topology/catalog/finding_kinds.hpp"
#include "topology/graph/facts.hpp"
#include "topology/graph/lookup.hpp"
#include "topology/graph/path.hpp"

namespace collbench::topology {
namespace {

template <class Item>
void drop(std::vector<Item>& items, DeviceKind kind, const std::vector<Device>& devices) {
  std::vector<Item> kept;
  for (int i = 0; i < static_cast<int>(items.size()); ++i) {
    if (std::ranges::find(devices, Device{kind, i}) == devices.end())
      kept.push_back(std::move(items[static_cast<std::size_t>(i)]));
  }
  items = std::move(kept);
}

bool contains(const std::vector<Device>& devices, const Device& device) {
  return std::ranges::find(devices, device) != devices.end();
}

/// Its position after those in `gone` were taken out.
void renumber(Device& device, const std::vector<Device>& gone) {
  device.index -= static_cast<int>(std::ranges::count_if(
      gone, [&device](const Device& each) { return each.kind == device.kind && each.index < device.index; }));
}

/// Links of what is gone go too; the others are renumbered.
template <class Link>
void drop_links(std::vector<Link>& links, const std::vector<Device>& gone) {
  std::erase_if(links,
                [&gone](const Link& link) { return contains(gone, link.from) || contains(gone, link.to); });
  for (Link& link : links) {
    renumber(link.from, gone);
    renumber(link.to, gone);
  }
}

/// Channels through what is gone go too.
void drop_channels(std::vector<std::vector<Device>>& channels, const std::vector<Device>& gone) {
  std::erase_if(channels, [&gone](const std::vector<Device>& channel) {
    return std::ranges::any_of(channel, [&gone](const Device& device) { return contains(gone, device); });
  });
  for (std::vector<Device>& channel : channels) {
    for (Device& device : channel) renumber(device, gone);
  }
}

/// Takes facts from the worse host, as far as a finding is read from them.
class FaultInjection {
 public:
  FaultInjection(const HostPair& pair, const Finding& finding)
      : pair_(pair),
        finding_(finding),
        kind_(finding_kind(finding.code)),
        worse_(pair.of(finding.side)),
        host_(pair.of(other(finding.side))) {}

  Host take() {
    copy("host", host_, worse_);
    for (const DevicePair& devices : finding_.devices) {
      if (of_worse(devices) && of_better(devices)) copy_device(*of_better(devices), *of_worse(devices));
    }
    copy_links();
    copy_peer_access();
    copy_graph();
    std::vector<Device> gone;
    for (const DevicePair& devices : finding_.devices) {
      if (of_better(devices) && !of_worse(devices)) gone.push_back(*of_better(devices));
    }
    return without_devices(host_, gone);
  }

 private:
  [[nodiscard]] const std::optional<Device>& of_worse(const DevicePair& devices) const {
    return devices.of(finding_.side);
  }
  [[nodiscard]] const std::optional<Device>& of_better(const DevicePair& devices) const {
    return devices.of(other(finding_.side));
  }

  template <class Item>
  void copy(std::string_view item, Item& to, const Item& from) {
    each_fact(
        [&](const char* name, auto& mine, const auto& theirs) {
          if (theirs.known() && reads(kind_, fmt::format("{}.{}", item, name))) mine = {theirs.value, 0};
        },
        to, from);
  }

  void copy_device(const Device& to, const Device& from) {
    const auto at = [](auto& items, const Device& device) -> auto& {
      return items.at(static_cast<std::size_t>(device.index));
    };
    if (to.kind == DeviceKind::gpu) copy("GPU", at(host_.gpus, to), at(worse_.gpus, from));
    if (to.kind == DeviceKind::numa_node) copy("NUMA", at(host_.numa_nodes, to), at(worse_.numa_nodes, from));
    if (to.kind == DeviceKind::nic) {
      copy("NIC", at(host_.nics, to), at(worse_.nics, from));
      copy_ports(at(host_.nics, to), at(worse_.nics, from));
    }
    copy_way(to, from);
  }

  void copy_ports(Nic& to, const Nic& from) {
    for (std::size_t i = 0; i < to.ports.size() && i < from.ports.size(); ++i)
      copy("port", to.ports[i], from.ports[i]);
  }

  /// The PCI function and, where both have as many, the bridges above it.
  void copy_way(const Device& to, const Device& from) {
    const auto mine = way_to_root(host_, to);
    const auto theirs = way_to_root(worse_, from);
    for (std::size_t i = 0; i < mine.size() && i < theirs.size(); ++i) {
      if (i > 0 && mine.size() != theirs.size()) break;
      for (PciDevice& device : host_.pci_devices) {
        if (device.address == mine[i]->address) copy("PCI", device, *theirs[i]);
      }
    }
    if (finding_.code == "devices-apart" && !mine.empty() && !theirs.empty())
      hang(mine[0]->address, *theirs[0]);
  }

  /// Below the bridge that is the counterpart of the one above `there`, or at the root of its NUMA node.
  void hang(const std::string& address, const PciDevice& there) {
    std::string counterpart = there.parent;
    for (const auto& [in_a, in_b] : pair_.match.bridges) {
      if ((finding_.side == Side::a ? in_a : in_b) == there.parent)
        counterpart = finding_.side == Side::a ? in_b : in_a;
    }
    if (!counterpart.empty() && find_pci_device(host_, counterpart) == nullptr) return;
    for (PciDevice& device : host_.pci_devices) {
      if (device.address != address) continue;
      device.parent = counterpart;
      if (!counterpart.empty()) continue;
      device.numa_node = {there.numa_node.value, 0};
      device.host_bridge = {there.host_bridge.value, 0};
    }
  }

  [[nodiscard]] std::optional<Device> in_worse(const Device& device) const {
    for (const auto* list :
         {&pair_.match.gpus, &pair_.match.nvswitches, &pair_.match.nics, &pair_.match.numa_nodes}) {
      for (const DevicePair& devices : *list) {
        if (of_better(devices) == device) return of_worse(devices);
      }
    }
    return std::nullopt;
  }

  [[nodiscard]] bool is_about(const Device& device) const {
    return std::ranges::any_of(finding_.devices,
                               [&](const DevicePair& devices) { return of_better(devices) == device; });
  }

  /// The same link of the worse host; null when there is none.
  template <class Link>
  [[nodiscard]] const Link* matching_link(const Link& link, const std::vector<Link>& links) const {
    const auto from = in_worse(link.from);
    const auto to = in_worse(link.to);
    const auto found =
        std::ranges::find_if(links, [&](const Link& each) { return from == each.from && to == each.to; });
    return found == links.end() ? nullptr : &*found;
  }

  void copy_links() {
    const bool counts = reads(kind_, "NVLink.count") || finding_.code == "nvlink-off";
    for (NvLinkBundle& bundle : host_.nvlinks) {
      if (!is_about(bundle.from) && !is_about(bundle.to)) continue;
      const NvLinkBundle* counterpart = matching_link(bundle, worse_.nvlinks);
      if (counterpart != nullptr) copy("NVLink", bundle, *counterpart);
      if (counts && counterpart == nullptr && !worse_.nvlinks.empty()) bundle.count.value = 0;
    }
    if (counts && worse_.nvlinks.empty()) take_links_of_matrix();
    for (StatedPath& path : host_.stated_paths) {
      if (!is_about(path.from) && !is_about(path.to)) continue;
      const StatedPath* counterpart = matching_link(path, worse_.stated_paths);
      if (counterpart == nullptr) continue;
      copy("path", path, *counterpart);
      if (!counts) continue;
      path.type = counterpart->type;
      path.nvlinks = counterpart->nvlinks;
    }
  }

  void copy_peer_access() {
    for (PeerAccess& access : host_.peer_access) {
      if (!is_about(access.from) || !is_about(access.to)) continue;
      if (const PeerAccess* counterpart = matching_link(access, worse_.peer_access))
        copy("peer", access, *counterpart);
    }
  }

  /// Of what the worse host shows as a matrix: between two GPUs their own cell, from a GPU to the switches as
  /// many as the best cell of its row.
  void take_links_of_matrix() {
    for (NvLinkBundle& bundle : host_.nvlinks) {
      const auto from = in_worse(bundle.from);
      const auto to = in_worse(bundle.to);
      if (bundle.to.kind != DeviceKind::gpu || !from || !to) continue;
      if (is_about(bundle.from) || is_about(bundle.to))
        bundle.count.value = std::min(bundle.count.value_or(0), nvlinks_between(worse_, *from, *to));
    }
    for (int i = 0; i < static_cast<int>(host_.gpus.size()); ++i) {
      const Device gpu{DeviceKind::gpu, i};
      const auto there = in_worse(gpu);
      if (!is_about(gpu) || !there) continue;
      int left = 0;
      for (int j = 0; j < static_cast<int>(worse_.gpus.size()); ++j)
        left = std::max(left, nvlinks_between(worse_, *there, {DeviceKind::gpu, j}));
      int sum = 0;
      for (NvLinkBundle& bundle : host_.nvlinks) {
        if (bundle.from != gpu) continue;
        if (bundle.to.kind == DeviceKind::nvswitch)
          bundle.count.value = std::min(bundle.count.value_or(0), left - sum);
        sum += bundle.count.value_or(0);
      }
      Fact<int>& active = host_.gpus[static_cast<std::size_t>(i)].nvlinks_active;
      if (active.known()) active.value = std::min(*active.value, sum);
    }
  }

  /// What is said of the graph that the finding is about; its ways stay.
  void copy_graph() {
    for (ChannelGraph& graph : host_.nccl_graphs) {
      for (const ChannelGraph& theirs : worse_.nccl_graphs) {
        if (graph.id == theirs.id && nccl_graph_name(graph.id) == finding_.device)
          copy("graph", graph, theirs);
      }
    }
  }

  const HostPair& pair_;
  const Finding& finding_;
  const FindingKind& kind_;
  const Host& worse_;
  Host host_;
};

}  // namespace

Host without_devices(const Host& host, const std::vector<Device>& devices) {
  Host rest = host;
  std::set<std::string> addresses;
  for (const Device& device : devices) addresses.insert(pci_address_of(host, device).value_or(""));
  drop(rest.gpus, DeviceKind::gpu, devices);
  drop(rest.nics, DeviceKind::nic, devices);
  drop(rest.nvswitches, DeviceKind::nvswitch, devices);
  drop(rest.numa_nodes, DeviceKind::numa_node, devices);
  drop_links(rest.nvlinks, devices);
  drop_links(rest.stated_paths, devices);
  drop_links(rest.peer_access, devices);
  for (ChannelGraph& graph : rest.nccl_graphs) drop_channels(graph.channels, devices);
  // Two NICs may be ports of one function.
  for (const auto& nic : rest.nics) addresses.erase(nic.pci_address.value_or(""));
  std::erase_if(rest.pci_devices, [&](const PciDevice& pci) { return addresses.contains(pci.address); });
  return rest;
}

Host inject_fault(const HostPair& pair, const Finding& finding) {
  return FaultInjection(pair, finding).take();
}

}  // namespace collbench::topology
