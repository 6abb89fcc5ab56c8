#include "topology/render/render.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "base/units.hpp"
#include "topology/catalog/links.hpp"
#include "topology/graph/lookup.hpp"

namespace collbench::topology {
namespace {

/// One line of the tree and what hangs below it.
struct Branch {
  std::string text;
  std::vector<Branch> below;
};

void print(const std::vector<Branch>& branches, const std::string& indent, std::string& out) {
  for (std::size_t i = 0; i < branches.size(); ++i) {
    const bool last = i + 1 == branches.size();
    out += fmt::format("{}{} {}\n", indent, last ? "└─" : "├─", branches[i].text);
    print(branches[i].below, indent + (last ? "   " : "│  "), out);
  }
}

/// "Gen5 x16"; with what it could be where it is narrower: "Gen5 x8 of x16".
std::string link_text(const PciDevice& device) {
  const PcieLink& most = device.link_max;
  const PcieLink& now = device.link_now;
  const auto rate =
      most.gigatransfers_per_second.known() ? most.gigatransfers_per_second : now.gigatransfers_per_second;
  const auto width = now.width.known() ? now.width : most.width;
  if (!rate.known() || !width.known()) {
    if (!now.gigabytes_per_second.known()) return "";
    return fmt::format("  {:.3g} GB/s", *now.gigabytes_per_second.value);
  }
  std::string text = fmt::format("  Gen{} x{}", pcie_generation(*rate.value), *width.value);
  if (most.width.known() && *most.width.value != *width.value)
    text += fmt::format(" of x{}", *most.width.value);
  return text;
}

std::string gpu_text(const Host& host, int index) {
  const Gpu& gpu = host.gpus[static_cast<std::size_t>(index)];
  std::string text = device_label(host, {DeviceKind::gpu, index});
  if (gpu.model.known()) text += "  " + *gpu.model.value;
  if (gpu.memory_bytes.known()) text += "  " + format_bytes(*gpu.memory_bytes.value);
  if (gpu.pci_address.known()) text += "  " + *gpu.pci_address.value;
  if (const PciDevice* pci = find_pci_device(host, gpu.pci_address.value_or(""))) text += link_text(*pci);
  if (gpu.mig.value_or(false)) text += "  MIG";
  if (gpu.nvlinks_inactive.value_or(0) > 0)
    text += fmt::format("  {} inactive", counted(*gpu.nvlinks_inactive.value, "NVLink"));
  if (gpu.nvlink_state.known()) text += fmt::format("  NVLink: {}", *gpu.nvlink_state.value);
  const std::string fabric = gpu.fabric_state.value_or("N/A");
  if (fabric != "N/A" && fabric != "Completed") text += "  fabric " + fabric;
  return text;
}

std::string nic_text(const Host& host, int index) {
  const Nic& nic = host.nics[static_cast<std::size_t>(index)];
  std::string text = device_label(host, {DeviceKind::nic, index});
  if (nic.interfaces.known() && nic.name.known()) text += " (" + *nic.interfaces.value + ")";
  if (nic.pci_address.known()) text += "  " + *nic.pci_address.value;
  if (const PciDevice* pci = find_pci_device(host, nic.pci_address.value_or(""))) text += link_text(*pci);
  for (const NicPort& port : nic.ports) {
    if (nic.ports.size() > 1) text += fmt::format("  port {}:", port.number);
    if (port.gigabits_per_second.known()) text += fmt::format("  {} Gb/s", *port.gigabits_per_second.value);
    if (port.link_layer.known()) text += " " + *port.link_layer.value;
    if (port.state.known()) text += " " + *port.state.value;
  }
  if (nic.gpudirect.known() && !*nic.gpudirect.value) text += "  no GPUDirect";
  return text;
}

Branch device_branch(const Host& host, const Device& device) {
  return {device.kind == DeviceKind::gpu ? gpu_text(host, device.index) : nic_text(host, device.index), {}};
}

std::vector<Branch> devices_at(const Host& host, const std::string& address) {
  std::vector<Branch> branches;
  for (const Device& device : gpus_and_nics(host)) {
    if (pci_address_of(host, device) == address) branches.push_back(device_branch(host, device));
  }
  return branches;
}

/// Of a device at the root: its own, or that of the GPU or NIC that it is.
std::optional<int> numa_node_below(const Host& host, const PciDevice& root) {
  if (root.numa_node.known()) return root.numa_node.value;
  for (const Device& device : gpus_and_nics(host)) {
    if (pci_address_of(host, device) == root.address) return numa_node_of(host, device);
  }
  return only_numa_node(host);
}

/// The devices and bridges directly below `parent`. A bridge with one thing below it is not worth a line,
/// unless a hypervisor made it up.
std::vector<Branch> below(const Host& host, const std::string& parent, std::optional<int> numa_node) {
  std::vector<Branch> branches;
  for (const PciDevice& device : host.pci_devices) {
    if (device.parent != parent) continue;
    if (parent.empty() && numa_node_below(host, device) != numa_node) continue;
    std::vector<Branch> devices = devices_at(host, device.address);
    if (!devices.empty()) {
      branches.insert(branches.end(), devices.begin(), devices.end());
      continue;
    }
    std::vector<Branch> inner = below(host, device.address, std::nullopt);
    if (!inner.empty() && is_virtual_bridge(host, device)) {
      branches.push_back({fmt::format("virtual bridge {}  {}", device.address, virtual_link_text(device)),
                          std::move(inner)});
    } else if (inner.size() == 1) {
      branches.push_back(std::move(inner.front()));
    } else if (!inner.empty()) {
      branches.push_back({fmt::format("PCIe {}{}", device.address, link_text(device)), std::move(inner)});
    }
  }
  return branches;
}

/// Devices without a place in the PCI tree, by the NUMA node that they are said to be near.
void add_unplaced(const Host& host, std::optional<int> numa_node, std::vector<Branch>& branches) {
  for (const Device& device : gpus_and_nics(host)) {
    if (find_pci_device(host, device) != nullptr) continue;
    if (numa_node_of(host, device) == numa_node) branches.push_back(device_branch(host, device));
  }
}

std::string numa_text(const NumaNode& node) {
  std::string text = fmt::format("NUMA {}", node.index);
  if (node.cpus.known())
    text += fmt::format("  CPUs {}", node.cpus.value->empty() ? "none" : *node.cpus.value);
  if (node.memory_bytes.known()) text += "  " + format_bytes(*node.memory_bytes.value);
  if (node.cpu_name.known()) {
    text += "  " + *node.cpu_name.value;
  } else if (node.cpu_vendor.known()) {
    text += fmt::format("  {} {}/{}", *node.cpu_vendor.value, node.cpu_family.value_or(0),
                        node.cpu_model.value_or(0));
  }
  return text;
}

Branch numa_branch(const Host& host, std::string text, std::optional<int> numa_node) {
  Branch branch{std::move(text), below(host, "", numa_node)};
  add_unplaced(host, numa_node, branch.below);
  return branch;
}

std::vector<Branch> tree_of(const Host& host) {
  std::vector<Branch> branches;
  for (const NumaNode& node : host.numa_nodes)
    branches.push_back(numa_branch(host, numa_text(node), node.index));
  // topo -m names NUMA nodes that no other source describes; the rest has no known node at all.
  std::set<int> named;
  for (const Device& device : gpus_and_nics(host)) {
    if (const auto node = numa_node_of(host, device)) named.insert(*node);
  }
  for (const NumaNode& node : host.numa_nodes) named.erase(node.index);
  for (const int index : named) branches.push_back(numa_branch(host, fmt::format("NUMA {}", index), index));
  Branch rest = numa_branch(host, "NUMA node unknown", std::nullopt);
  if (!rest.below.empty()) branches.push_back(std::move(rest));
  return branches;
}

}  // namespace

std::string show_tree(const Host& host) {
  std::string out;
  print(tree_of(host), "", out);
  return out;
}

}  // namespace collbench::topology
