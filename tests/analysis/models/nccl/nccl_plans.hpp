#pragma once
#include <algorithm>
#include <cstdio>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "analysis/models/nccl/channel_search.hpp"
#include "base/files.hpp"
#include "tests/source_folder.hpp"
#include "topology/diff/topology_diff.hpp"
#include "topology/graph/lookup.hpp"
#include "topology/machines/reference_machines.hpp"

namespace collbench::analysis {

/// Channels and their GB/s, as NCCL's log prints them.
struct SeenPlan {
  int channels = 0;
  float within_node = 0;
  float across_nodes = 0;
};

/// A line of nccl_plans.tsv: what NCCL's own search found.
struct SeenNode {
  std::string machine;
  std::string fault;
  bool on_all_nodes = false;
  NcclSettings settings;
  SeenPlan ring;
  SeenPlan tree;
  SeenPlan nvls;

  [[nodiscard]] std::string what() const {
    return machine + " " + fault + (on_all_nodes ? " on all nodes" : " on one node") +
           (settings.pxn ? "" : " without PXN") + " NCCL_CROSS_NIC=" + std::to_string(settings.cross_nic);
  }
};

inline SeenPlan seen_plan(const std::string& text) {
  SeenPlan plan;
  if (std::sscanf(text.c_str(), "%dx%f/%f", &plan.channels, &plan.within_node, &plan.across_nodes) != 3)
    throw std::runtime_error("nccl_plans.tsv: " + text);
  return plan;
}

inline std::vector<SeenNode> seen_nodes() {
  std::istringstream lines(read_file(source_folder() + "/tests/analysis/models/nccl/nccl_plans.tsv"));
  std::vector<SeenNode> nodes;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("#") || line.starts_with("machine\t")) continue;
    std::istringstream cells(line);
    std::vector<std::string> cell;
    for (std::string each; std::getline(cells, each, '\t');) cell.push_back(each);
    nodes.push_back({cell.at(0),
                     cell.at(1),
                     cell.at(2) == "all",
                     {cell.at(3) == "yes", std::stoi(cell.at(4))},
                     seen_plan(cell.at(5)),
                     seen_plan(cell.at(6)),
                     seen_plan(cell.at(7))});
  }
  return nodes;
}

inline topology::PciDevice& pci_of(topology::Host& host, const topology::Device& device) {
  const std::string address = topology::pci_address_of(host, device).value_or("");
  return *std::find_if(host.pci_devices.begin(), host.pci_devices.end(),
                       [&](const topology::PciDevice& each) { return each.address == address; });
}

/// Moves a function to the end, below another one or (parent empty) to the root of a NUMA node.
inline void hang(topology::Host& host, const std::string& address, const std::string& parent, int numa) {
  const auto function =
      std::find_if(host.pci_devices.begin(), host.pci_devices.end(),
                   [&](const topology::PciDevice& each) { return each.address == address; });
  topology::PciDevice moved = *function;
  host.pci_devices.erase(function);
  moved.parent = parent;
  if (parent.empty()) {
    moved.numa_node.value = numa;
    moved.host_bridge.value = "0000:f1";
  }
  host.pci_devices.push_back(std::move(moved));
}

/// The host with a fault in the words of nccl_plans.tsv: "nic 3 rate 200", "gpu 2 links 14".
inline topology::Host with_fault(topology::Host host, const std::string& fault) {
  std::istringstream words(fault);
  std::string kind;
  std::string what;
  int index = 0;
  words >> kind;
  if (kind == "none") return host;
  words >> index;
  if (kind == "pair") {
    return topology::without_devices(
        host, {{topology::DeviceKind::gpu, index}, {topology::DeviceKind::gpu, index + 1}});
  }
  words >> what;
  const bool nic = kind == "nic";
  const topology::Device device{nic ? topology::DeviceKind::nic : topology::DeviceKind::gpu, index};
  if (what == "gone") return topology::without_devices(host, {device});
  if (what == "down") {
    host.nics.at(static_cast<std::size_t>(index)).ports[0].state.value = "DOWN";
  } else if (what == "rate") {
    words >> *host.nics.at(static_cast<std::size_t>(index)).ports[0].gigabits_per_second.value;
  } else if (what == "width") {
    int width = 0;
    words >> width;
    pci_of(host, device).link_max.width.value = width;  // one end has no more lanes, which NCCL reads
  } else if (what == "links") {
    int left = 0;
    words >> left;
    host.gpus.at(static_cast<std::size_t>(index)).nvlinks_active.value = left;
    std::vector<topology::NvLinkBundle*> bundles;
    for (topology::NvLinkBundle& bundle : host.nvlinks) {
      if (bundle.from == device) bundles.push_back(&bundle);
    }
    const auto count = static_cast<int>(bundles.size());
    for (int i = 0; i < count; ++i)
      bundles[static_cast<std::size_t>(i)]->count.value = left / count + (i < left % count ? 1 : 0);
  } else if (what == "at") {
    words >> what;
    const topology::PciDevice function = pci_of(host, device);
    const int numa = *topology::find_pci_device(host, function.parent)->numa_node.value;
    if (what == "PXB") {
      topology::PciDevice bridge;
      bridge.address = "0000:f0:00.0";
      bridge.parent = function.parent;
      bridge.class_code.value = "0x060400";
      bridge.link_max = function.link_max;
      host.pci_devices.push_back(bridge);
      hang(host, function.address, bridge.address, numa);
    } else if (what == "PHB") {
      hang(host, function.address, "", numa);
    } else if (what == "SYS") {
      const auto other = std::find_if(host.numa_nodes.rbegin(), host.numa_nodes.rend(),
                                      [numa](const topology::NumaNode& each) { return each.index != numa; });
      hang(host, function.address, "", other->index);
    }
  }
  return host;
}

}  // namespace collbench::analysis
