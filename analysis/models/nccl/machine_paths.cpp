#include "analysis/models/nccl/channel_steps.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>

namespace collbench::analysis {
namespace {

constexpr float kToItself = 5000;   // NCCL 2.30 src/graph/topo.h, LOC_BW
constexpr int kChannelsToTry = 64;  // src/include/nccl_device.h

Distance distance_of(LinkKind kind) {
  switch (kind) {
    case LinkKind::local:
    case LinkKind::network:  // it ends in the NIC and is no distance
      return Distance::local;
    case LinkKind::nvlink:
      return Distance::nvlink;
    case LinkKind::c2c:
      return Distance::c2c;
    case LinkKind::pcie:
      return Distance::pix;
    case LinkKind::system:
      return Distance::sys;
  }
  return Distance::none;
}

/// Of two parts: C2C to the CPU and PCIe from there is P2C.
Distance joined(Distance a, Distance b) {
  if (std::max(a, b) == Distance::phb && std::min(a, b) == Distance::c2c) return Distance::p2c;
  return std::max(a, b);
}

/// The bits of `value` below `bound`, a power of two, in reverse order: 4 GPUs begin at NICs 0, 2, 1, 3.
int mirrored(int value, int bound) {
  int result = 0;
  for (int low = 1, high = bound / 2; low < bound; low *= 2, high /= 2) {
    if ((value & low) != 0) result |= high;
  }
  return result;
}

NodeKind kind_of(const MachineGraph& graph, int node) {
  return graph.nodes[static_cast<std::size_t>(node)].kind;
}

/// Where a search begins, and how far NVLink takes it.
struct SearchBase {
  SearchBase(const MachineGraph& graph, int node)
      : device(node), max_hops(kind_of(graph, node) == NodeKind::gpu ? 2 : 1) {
    if (kind_of(graph, node) == NodeKind::gpu)
      device = graph.nodes[static_cast<std::size_t>(node)].links.front().to;
  }

  int device;    ///< the base, of a GPU its device
  int max_hops;  ///< before NVLink counts as through another GPU
};

/// Whether the other end of `link` reaches the base through `node`, whose own way is `path`. A device lets
/// only its own GPU through, and by NVLink one device more.
bool goes_on(const MachineGraph& graph, const SearchBase& base, int node, const GraphLink& link,
             const GraphPath& path) {
  if (node == base.device || kind_of(graph, node) != NodeKind::device) return true;
  const bool into_its_gpu = link.kind == LinkKind::local && kind_of(graph, link.to) == NodeKind::gpu;
  const bool relayed = link.kind == LinkKind::nvlink && kind_of(graph, link.to) == NodeKind::device &&
                       path.hops() <= base.max_hops;
  return into_its_gpu || relayed;
}

/// Of the other end of `link` from the base, through `node`, whose own way is `path`.
Distance distance_over(const MachineGraph& graph, const SearchBase& base, int node, const GraphLink& link,
                       const GraphPath& path) {
  const NodeKind from = kind_of(graph, node);
  const NodeKind to = kind_of(graph, link.to);
  Distance distance = distance_of(link.kind);
  if (from == NodeKind::pcie && to == NodeKind::pcie) distance = Distance::pxb;
  if (link.kind == LinkKind::pcie && (from == NodeKind::cpu || to == NodeKind::cpu)) distance = Distance::phb;
  if (from == NodeKind::device && path.distance == Distance::nvlink && distance == Distance::nvlink &&
      path.hops() == base.max_hops)
    distance = Distance::nvlink_via_gpu;
  return std::max(distance, path.distance);
}

/// Whether a way of that distance and rate, over so many hops, replaces `old`.
bool is_better(const GraphPath& found, int hops, const GraphPath& old) {
  if (found.distance != old.distance) return found.distance < old.distance;
  return old.rate < found.rate || (old.rate == found.rate && old.hops() > hops);
}

/// The position, among the links of its other end, of what leads back; none where that end does not have it.
std::optional<int> way_back(const MachineGraph& graph, int node, const GraphLink& link) {
  const auto& links = graph.nodes[static_cast<std::size_t>(link.to)].links;
  const auto found = std::ranges::find_if(
      links, [&](const GraphLink& each) { return each.to == node && each.kind == link.kind; });
  if (found == links.end()) return std::nullopt;
  return static_cast<int>(found - links.begin());
}

}  // namespace

MachinePaths::MachinePaths(const MachineGraph& graph, const NcclSettings& settings)
    : graph_(graph), paths_(graph.nodes.size() * graph.nodes.size()) {
  for (int node = 0; node < static_cast<int>(graph.nodes.size()); ++node) {
    first_link_.push_back(static_cast<int>(links_.size()));
    for (const GraphLink& link : graph.nodes[static_cast<std::size_t>(node)].links)
      links_.push_back({node, link});
  }
  for (const NodeKind kind :
       {NodeKind::cpu, NodeKind::device, NodeKind::gpu, NodeKind::net, NodeKind::nvswitch}) {
    for (const int base : graph.all(kind)) find_from(base);
  }
  leave_peers_over_cpu();
  use_c2c();
  reach_nets(settings);
  for (int net = 0; net < count(NodeKind::net); ++net) {
    gpus_beside_.push_back(nearest(NodeKind::net, net, NodeKind::gpu));
    gpu_of_.push_back(find_gpu_of(net));
  }
}

/// Breadth first from the base: the ways of all nodes to it.
void MachinePaths::find_from(int base_node) {
  const SearchBase base(graph_, base_node);
  between(base_node, base_node) = {Distance::local, kToItself, {}};
  std::vector<int> border{base_node};
  while (!border.empty()) {
    std::vector<int> next;
    for (const int node : border) {
      for (const GraphLink& link : graph_.nodes[static_cast<std::size_t>(node)].links) {
        const GraphPath& path = between(node, base_node);
        if (!goes_on(graph_, base, node, link, path)) continue;
        GraphPath found{distance_over(graph_, base, node, link, path), std::min(path.rate, link.rate), {}};
        GraphPath& old = between(link.to, base_node);
        if (!is_better(found, path.hops() + 1, old)) continue;
        const auto back = way_back(graph_, node, link);
        if (!back) continue;  // a one-sided NVLink
        found.links.push_back(first_link_[static_cast<std::size_t>(link.to)] + *back);
        found.links.insert(found.links.end(), path.links.begin(), path.links.end());
        old = std::move(found);
        if (std::ranges::find(next, link.to) == next.end()) next.push_back(link.to);
      }
    }
    border = std::move(next);
  }
}

std::vector<int> MachinePaths::nearest(NodeKind from_kind, int from, NodeKind kind) const {
  std::vector<int> found;
  Distance least = Distance::none;
  float highest = 0;
  for (int i = 0; i < count(kind); ++i) {
    const GraphPath& each = path(from_kind, from, kind, i);
    if (each.rate > highest || (each.rate == highest && each.distance < least)) {
      highest = each.rate;
      least = each.distance;
      found.clear();
    }
    if (each.rate == highest && each.distance == least) found.push_back(i);
  }
  return found;
}

int MachinePaths::cpu_of(int gpu) const {
  const std::vector<int> cpus = nearest(NodeKind::gpu, gpu, NodeKind::cpu);
  return *std::ranges::min_element(cpus, [&](int a, int b) {
    return path(NodeKind::gpu, gpu, NodeKind::cpu, a).hops() <
           path(NodeKind::gpu, gpu, NodeKind::cpu, b).hops();
  });
}

int MachinePaths::net_of(int gpu, int channel) const {
  const std::vector<int> nets = nearest(NodeKind::gpu, gpu, NodeKind::net);
  if (nets.empty()) return -1;
  const auto sharing = static_cast<int>(nearest(NodeKind::net, nets[0], NodeKind::gpu).size());
  if (sharing == 0) return -1;
  const auto all = static_cast<int>(nets.size());
  const int each = (all + sharing - 1) / sharing;
  int first = graph_.nodes[static_cast<std::size_t>(node(NodeKind::gpu, gpu))].device % sharing;
  if ((all & (all - 1)) == 0) first = mirrored(first, all);
  return nets[static_cast<std::size_t>((first + channel % each) % all)];
}

int MachinePaths::find_gpu_of(int net) const {
  const std::vector<int> gpus = nearest(NodeKind::net, net, NodeKind::gpu);
  for (int channel = 0; channel < kChannelsToTry; ++channel) {
    for (const int gpu : gpus) {
      if (net_of(gpu, channel) == net) return gpu;
    }
  }
  return -1;
}

void MachinePaths::join(NodeKind via_kind, int via, NodeKind from_kind, int from, NodeKind to_kind, int to) {
  const GraphPath& first = path(from_kind, from, via_kind, via);
  const GraphPath& second = path(via_kind, via, to_kind, to);
  GraphPath whole{via_kind == NodeKind::gpu ? Distance::pxn : joined(first.distance, second.distance),
                  std::min(first.rate, second.rate), first.links};
  whole.links.insert(whole.links.end(), second.links.begin(), second.links.end());
  between(node(from_kind, from), node(to_kind, to)) = std::move(whole);
}

/// GPUs that are farther apart than PCIe switches meet in the CPU's memory.
void MachinePaths::leave_peers_over_cpu() {
  const bool two_on_amd = graph_.x86 && graph_.cpu == CpuKind::amd && count(NodeKind::device) <= 2;
  const Distance farthest = two_on_amd ? Distance::sys : Distance::pxb;
  for (int to = 0; to < count(NodeKind::gpu); ++to) {
    for (int from = 0; from < count(NodeKind::gpu); ++from) {
      if (path(NodeKind::gpu, from, NodeKind::gpu, to).distance > farthest)
        join(NodeKind::cpu, cpu_of(to), NodeKind::gpu, from, NodeKind::gpu, to);
    }
  }
}

/// A NIC below the CPU of a GPU that hangs on it by C2C is P2C.
void MachinePaths::use_c2c() {
  for (int gpu = 0; gpu < count(NodeKind::gpu); ++gpu) {
    const int cpu = cpu_of(gpu);
    for (const int net : nearest(NodeKind::gpu, gpu, NodeKind::net)) {
      if (joined(path(NodeKind::gpu, gpu, NodeKind::cpu, cpu).distance,
                 path(NodeKind::net, net, NodeKind::cpu, cpu).distance) != Distance::p2c)
        continue;
      GraphPath& there = between(node(NodeKind::gpu, gpu), node(NodeKind::net, net));
      GraphPath& back = between(node(NodeKind::net, net), node(NodeKind::gpu, gpu));
      there.distance = std::min(there.distance, Distance::p2c);
      back.distance = std::min(back.distance, Distance::p2c);
    }
  }
}

/// The GPU that passes data on to a NIC (PXN): the first device behind the switches.
int MachinePaths::relay_of(const GraphPath& path) const {
  std::size_t i = 1;
  const auto to = [&](std::size_t hop) { return links_[static_cast<std::size_t>(path.links[hop])].link.to; };
  while (i + 1 < path.links.size() &&
         graph_.nodes[static_cast<std::size_t>(to(i))].kind == NodeKind::nvswitch)
    ++i;
  const int device = graph_.nodes[static_cast<std::size_t>(to(i))].device;
  for (int gpu = 0; gpu < count(NodeKind::gpu); ++gpu) {
    if (graph_.nodes[static_cast<std::size_t>(node(NodeKind::gpu, gpu))].device == device) return gpu;
  }
  return 0;
}

/// Whether the NIC reads (or writes) the GPU's memory by itself.
bool MachinePaths::gpudirect(int gpu, int net, bool read) const {
  if (!graph_.nodes[static_cast<std::size_t>(node(NodeKind::net, net))].gpudirect) return false;
  if (!graph_.nodes[static_cast<std::size_t>(node(NodeKind::gpu, gpu))].gpudirect) return false;
  if (read && graph_.generation < GpuGeneration::ampere) {
    bool nvlink = count(NodeKind::gpu) == 1;
    for (int other = 0; other < count(NodeKind::gpu); ++other) {
      nvlink = nvlink ||
               (other != gpu && path(NodeKind::gpu, gpu, NodeKind::gpu, other).distance == Distance::nvlink);
    }
    if (!nvlink) return false;
  }
  const GraphPath* way = &path(NodeKind::gpu, gpu, NodeKind::net, net);
  if (way->distance == Distance::pxn) way = &path(NodeKind::gpu, relay_of(*way), NodeKind::net, net);
  return way->distance <= Distance::p2c;
}

void MachinePaths::reach_nets(const NcclSettings& settings) {
  for (int net = 0; net < count(NodeKind::net); ++net) {
    for (int gpu = 0; gpu < count(NodeKind::gpu); ++gpu) {
      const auto way = [&](int from) -> const GraphPath& {
        return path(NodeKind::gpu, from, NodeKind::net, net);
      };
      const int relay = settings.pxn ? find_gpu_of(net) : -1;
      if (relay >= 0 && relay != gpu && gpudirect(relay, net, true) && way(relay).distance <= Distance::p2c &&
          path(NodeKind::gpu, relay, NodeKind::gpu, gpu).distance <= Distance::nvlink &&
          (way(relay).rate > way(gpu).rate || way(gpu).distance > Distance::pxn)) {
        join(NodeKind::gpu, relay, NodeKind::gpu, gpu, NodeKind::net, net);
      }
      if (way(gpu).distance < Distance::phb && !gpudirect(gpu, net, false)) {
        const int cpu = cpu_of(gpu);
        join(NodeKind::cpu, cpu, NodeKind::net, net, NodeKind::gpu, gpu);
        join(NodeKind::cpu, cpu, NodeKind::gpu, gpu, NodeKind::net, net);
      }
    }
  }
}

}  // namespace collbench::analysis
