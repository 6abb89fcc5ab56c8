#include "topology/graph/path.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "topology/catalog/links.hpp"
#include "topology/graph/lookup.hpp"
#include "topology/graph/nics.hpp"

namespace collbench::topology {
namespace {

int direct_nvlinks(const Host& host, const Device& from, const Device& to) {
  int links = 0;
  for (const NvLinkBundle& bundle : host.nvlinks) {
    if (bundle.from == from && bundle.to == to) links += bundle.count.value_or(0);
  }
  return links;
}

std::optional<double> nvlink_gigabytes(const Host& host, const Device& gpu, int links) {
  const auto generation = generation_of(host, host.gpus.at(static_cast<std::size_t>(gpu.index)));
  if (!generation) return std::nullopt;
  return links * traits(*generation).nvlink.gigabytes_per_second;
}

PathHop nvlink_hop(const Host& host, const Device& from, int links) {
  return {HopKind::nvlink,
          fmt::format("{} NVLink{} of {}", links, links == 1 ? "" : "s", device_label(host, from)),
          nvlink_gigabytes(host, from, links)};
}

PathHop pcie_hop(const PciDevice& device) {
  const PcieLink& link = device.link_max.width.known() ? device.link_max : device.link_now;
  if (!link.gigatransfers_per_second.known() && link.gigabytes_per_second.known()) {
    const double coded = *link.gigabytes_per_second.value;
    return {HopKind::pcie, fmt::format("PCIe of {}, {:.3g} GB/s coded", device.address, coded),
            pcie_rate_of_coded(coded).gigabytes_per_second};
  }
  if (!link.gigatransfers_per_second.known() || !link.width.known()) {
    return {HopKind::pcie, fmt::format("PCIe of {}", device.address), std::nullopt};
  }
  // The width as it is now: a link that trained narrow stays narrow, while its rate falls when it idles.
  const int width = std::min(*link.width.value, device.link_now.width.value_or(*link.width.value));
  const double rate = *link.gigatransfers_per_second.value;
  return {HopKind::pcie, fmt::format("PCIe of {}, {} GT/s x{}", device.address, rate, width),
          pcie_rate(rate, width).gigabytes_per_second};
}

std::optional<PathHop> cpu_hop(const Host& host, int numa_node) {
  for (const NumaNode& node : host.numa_nodes) {
    if (node.index != numa_node || !node.cpu_vendor.known()) continue;
    const LinkRate rate = cpu_interconnect_rate(node.architecture.value_or(""), *node.cpu_vendor.value,
                                                node.cpu_model.value_or(0));
    return PathHop{HopKind::sockets, "between the sockets", rate.gigabytes_per_second};
  }
  return PathHop{HopKind::sockets, "between the sockets", std::nullopt};
}

std::optional<Path> nvlink_path(const Host& host, const Device& a, const Device& b) {
  if (a.kind != DeviceKind::gpu || b.kind != DeviceKind::gpu) return std::nullopt;
  const int there = nvlinks_between(host, a, b);
  const int back = nvlinks_between(host, b, a);
  // A link has two ends: one that only one end reports is still a link (and a finding of topo diff).
  const int links = there > 0 && back > 0 ? std::min(there, back) : std::max(there, back);
  if (links == 0) return std::nullopt;
  return Path{PathType::nvl, links, {nvlink_hop(host, a, links)}, true};
}

std::optional<Path> c2c_path(const Host& host, const Device& a, const Device& b) {
  const bool gpu_first = a.kind == DeviceKind::gpu;
  const Device& gpu = gpu_first ? a : b;
  const Device& other = gpu_first ? b : a;
  if (gpu.kind != DeviceKind::gpu || other.kind != DeviceKind::numa_node) return std::nullopt;
  const Gpu& facts = host.gpus.at(static_cast<std::size_t>(gpu.index));
  if (facts.c2c_links.value_or(0) <= 0 || numa_node_of(host, gpu) != numa_node_of(host, other))
    return std::nullopt;
  return Path{PathType::c2c,
              0,
              {{HopKind::c2c, fmt::format("C2C of {}", device_label(host, gpu)),
                facts.c2c_gigabytes_per_second.value}},
              true};
}

/// Host bridge of the function's root; empty when no source says.
std::string host_bridge_of(const std::vector<const PciDevice*>& way) {
  return way.empty() ? std::string() : way.back()->host_bridge.value_or("");
}

/// How the ways from the two devices to their roots meet.
std::optional<PathType> type_by_pci(const Host& host, const Device& a, const Device& b,
                                    const std::vector<const PciDevice*>& way_a,
                                    const std::vector<const PciDevice*>& way_b, std::size_t* shared) {
  // Compared from the root downward, the ways share their last `*shared` steps.
  *shared = 0;
  while (*shared < std::min(way_a.size(), way_b.size()) &&
         way_a[way_a.size() - 1 - *shared] == way_b[way_b.size() - 1 - *shared]) {
    ++*shared;
  }
  if (*shared > 0) {
    const std::size_t above_a =
        way_a.size() - *shared;  // steps of a's way below the common bridge, a included
    const std::size_t above_b = way_b.size() - *shared;
    if (above_a == 0 && above_b == 0) return PathType::pix;  // two ports of one function
    const std::size_t bridges = (above_a > 0 ? above_a - 1 : 0) + (above_b > 0 ? above_b - 1 : 0) + 1;
    return bridges == 1 ? PathType::pix : PathType::pxb;
  }
  const auto node_a = numa_node_of(host, a);
  const auto node_b = numa_node_of(host, b);
  const std::string bridge_a = host_bridge_of(way_a);
  const std::string bridge_b = host_bridge_of(way_b);
  if (!bridge_a.empty() && bridge_a == bridge_b) return PathType::phb;
  if (!node_a || !node_b) return std::nullopt;
  if (*node_a != *node_b) return PathType::sys;
  return bridge_a.empty() || bridge_b.empty() ? PathType::phb : PathType::node;
}

void add_pci_hops(const std::vector<const PciDevice*>& way, std::size_t shared, std::vector<PathHop>& hops) {
  for (std::size_t i = 0; i + shared < way.size(); ++i) hops.push_back(pcie_hop(*way[i]));
}

std::optional<Path> pci_path(const Host& host, const Device& a, const Device& b) {
  const auto way_a = way_to_root(host, a);
  const auto way_b = way_to_root(host, b);
  const StatedPath* stated = find_stated_path(host, a, b);
  std::size_t shared = 0;
  auto type = type_by_pci(host, a, b, way_a, way_b, &shared);
  Path path;
  if (stated != nullptr && stated->type.known()) type = stated->type.value;
  if (!type) return std::nullopt;
  path.type = *type;
  add_pci_hops(way_a, shared, path.hops);
  if (path.type == PathType::sys) {
    if (const auto hop = cpu_hop(host, numa_node_of(host, a).value_or(-1))) path.hops.push_back(*hop);
  }
  add_pci_hops(way_b, shared, path.hops);
  const bool shows_both = (a.kind == DeviceKind::numa_node || !way_a.empty()) &&
                          (b.kind == DeviceKind::numa_node || !way_b.empty());
  path.complete = shows_both && std::ranges::all_of(path.hops, [](const PathHop& hop) {
                    return hop.gigabytes_per_second.has_value();
                  });
  return path;
}

/// The links of a GPU that are listed as leading to switches; none where no such list is there.
std::optional<int> bundled_to_switches(const Host& host, const Device& gpu) {
  std::optional<int> sum;
  for (const NvLinkBundle& bundle : host.nvlinks) {
    if (bundle.from == gpu && bundle.to.kind == DeviceKind::nvswitch && bundle.count.known())
      sum = sum.value_or(0) + *bundle.count.value;
  }
  return sum;
}

}  // namespace

std::optional<PathType> pci_path_type(const Host& host, const Device& a, const Device& b) {
  std::size_t shared = 0;
  return type_by_pci(host, a, b, way_to_root(host, a), way_to_root(host, b), &shared);
}

int nvlinks_between(const Host& host, const Device& from, const Device& to) {
  if (from == to) return 0;
  if (const int direct = direct_nvlinks(host, from, to); direct > 0) return direct;
  for (const StatedPath& path : host.stated_paths) {
    if (path.from == from && path.to == to && path.nvlinks.known()) return *path.nvlinks.value;
  }
  return std::min(bundled_to_switches(host, from).value_or(0), bundled_to_switches(host, to).value_or(0));
}

std::vector<std::string> nvlink_disagreements(const Host& host) {
  std::vector<std::string> sentences;
  for (int i = 0; i < static_cast<int>(host.gpus.size()); ++i) {
    const Device gpu{DeviceKind::gpu, i};
    const Fact<int>& active = host.gpus[static_cast<std::size_t>(i)].nvlinks_active;
    const auto to_switches = bundled_to_switches(host, gpu);
    if (active.known() && to_switches && *active.value > *to_switches)
      sentences.push_back(
          fmt::format("{}: {} active NVLinks are listed, and {} lead to switches; the lesser is taken",
                      device_label(host, gpu), *active.value, *to_switches));
  }
  return sentences;
}

int nvlinks_of(const Host& host, const Device& gpu) {
  const Gpu& facts = host.gpus.at(static_cast<std::size_t>(gpu.index));
  if (facts.nvlinks_active.known()) {
    const auto to_switches = bundled_to_switches(host, gpu);
    return to_switches ? std::min(*facts.nvlinks_active.value, *to_switches) : *facts.nvlinks_active.value;
  }
  int bundles = 0;
  for (const NvLinkBundle& bundle : host.nvlinks) {
    if (bundle.from == gpu) bundles += bundle.count.value_or(0);
  }
  if (bundles > 0) return bundles;
  int sum = 0;
  int most = 0;
  for (const StatedPath& path : host.stated_paths) {
    if (!(path.from == gpu)) continue;
    sum += path.nvlinks.value_or(0);
    most = std::max(most, path.nvlinks.value_or(0));
  }
  // Through switches every peer is reached over the same links, so `topo -m` counts them once per peer.
  return has_nvswitch(host) ? most : sum;
}

bool has_nvswitch(const Host& host) {
  if (!host.nvswitches.empty()) return true;
  return std::ranges::any_of(host.stated_paths, [&host](const StatedPath& path) {
    int sum = 0;
    for (const StatedPath& other : host.stated_paths) {
      if (other.from == path.from) sum += other.nvlinks.value_or(0);
    }
    std::optional<GpuGeneration> generation;
    if (path.from.kind == DeviceKind::gpu)
      generation = generation_of(host, host.gpus.at(static_cast<std::size_t>(path.from.index)));
    return sum > traits(generation.value_or(GpuGeneration::blackwell)).max_nvlinks;  // the most of any
  });
}

std::optional<Path> path_between(const Host& host, const Device& a, const Device& b) {
  if (a == b) return Path{PathType::loc, 0, {}, true};
  if (auto path = nvlink_path(host, a, b)) return path;
  if (auto path = c2c_path(host, a, b)) return path;
  return pci_path(host, a, b);
}

std::vector<Device> nics_by_nearness(const Host& host, const Device& gpu) {
  std::vector<std::tuple<PathType, std::size_t, int>> order;  // how far, where in the order of NICs, which
  for (const int nic : nic_order(host)) {
    const auto path = path_between(host, gpu, {DeviceKind::nic, nic});
    order.emplace_back(path ? path->type : PathType::net, order.size(), nic);
  }
  std::ranges::sort(order);
  std::vector<Device> nics;
  for (const auto& [type, position, nic] : order) nics.push_back({DeviceKind::nic, nic});
  return nics;
}

}  // namespace collbench::topology
