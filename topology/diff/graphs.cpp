// diff_graphs() of parts.hpp: what NCCL's search made of two machines.
#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "topology/diff/parts.hpp"
#include "topology/graph/lookup.hpp"
#include "topology/readers/readers.hpp"

namespace collbench::topology {
namespace {

/// Two graphs of one id, and their channels by slots: a device's position in the lists of the match.
struct GraphPair {
  const ChannelGraph& a;
  const ChannelGraph& b;
  ChannelGraph slots_of_a;
  ChannelGraph slots_of_b;
};

const std::vector<DevicePair>& slots(const HostPair& pair, DeviceKind kind) {
  return kind == DeviceKind::gpu ? pair.match.gpus : pair.match.nics;
}

const DevicePair& pair_at(const HostPair& pair, const Device& slot) {
  return slots(pair, slot.kind).at(static_cast<std::size_t>(slot.index));
}

ChannelGraph by_slots(const HostPair& pair, const ChannelGraph& graph, Side side) {
  ChannelGraph moved = graph;
  for (auto& channel : moved.channels) {
    for (Device& device : channel) {
      const auto& list = slots(pair, device.kind);
      const auto at =
          std::ranges::find_if(list, [&](const DevicePair& devices) { return devices.of(side) == device; });
      device.index = static_cast<int>(at - list.begin());
    }
  }
  moved.channels = sorted_channels(moved);
  return moved;
}

/// Whether a channel goes through a device that the other machine is known not to have: that explains it.
bool is_explained(const HostPair& pair, const ChannelGraph& by_slot, Side other_side) {
  return std::ranges::any_of(by_slot.channels, [&](const auto& channel) {
    return std::ranges::any_of(channel, [&](const Device& slot) {
      return !pair_at(pair, slot).of(other_side) && lists_all(pair.of(other_side), slot.kind);
    });
  });
}

std::set<int> nics_of(const ChannelGraph& graph) {
  std::set<int> nics;
  for (const auto& channel : graph.channels) {
    for (const Device& device : channel) {
      if (device.kind == DeviceKind::nic) nics.insert(device.index);
    }
  }
  return nics;
}

/// "16 × 20 GB/s".
std::string channel_rates(const ChannelGraph& graph, double rate) {
  if (graph.channels.empty()) return "no channel";
  return fmt::format("{} × {} GB/s", graph.channels.size(), rate);
}

/// All channels together, where it says what one carries; none on a graph without a network.
std::optional<double> total(const ChannelGraph& graph, const Fact<double>& rate, bool network) {
  if (graph.channels.empty()) return 0;
  if (!rate.known() || (network && graph.channels.front().front().kind != DeviceKind::nic))
    return std::nullopt;
  return *rate.value * static_cast<double>(graph.channels.size());
}

void diff_rates(const GraphPair& graphs, FindingList& findings) {
  constexpr double kSame = 1e-3;                  // NCCL writes six digits
  std::array<std::vector<std::string>, 2> words;  // of side a, of side b
  const auto compare = [&](const Fact<double>& a, const Fact<double>& b, bool network) {
    const auto in_a = total(graphs.a, a, network);
    const auto in_b = total(graphs.b, b, network);
    if (!in_a || !in_b || std::fabs(*in_a - *in_b) <= kSame * std::max(*in_a, *in_b)) return;
    const bool a_is_less = *in_a < *in_b;
    const std::string in_words_a = channel_rates(graphs.a, a.value_or(0));
    const std::string in_words_b = channel_rates(graphs.b, b.value_or(0));
    words.at(a_is_less ? 0 : 1)
        .push_back(fmt::format("{} {} instead of {}", network ? "to the network" : "between GPUs",
                               a_is_less ? in_words_a : in_words_b, a_is_less ? in_words_b : in_words_a));
  };
  compare(graphs.a.intra_gigabytes_per_second, graphs.b.intra_gigabytes_per_second, false);
  if (!graphs.a.channels.empty() && !graphs.b.channels.empty())
    compare(graphs.a.inter_gigabytes_per_second, graphs.b.inter_gigabytes_per_second, true);
  for (const Side side : {Side::a, Side::b}) {
    const auto& of_side = words.at(side == Side::a ? 0 : 1);
    if (!of_side.empty())
      findings.add_named("graph-slower", side, nccl_graph_name(graphs.a.id), {}, join_words(of_side));
  }
}

void diff_types(const GraphPair& graphs, FindingList& findings) {
  const auto compare = [&](const Fact<PathType>& a, const Fact<PathType>& b, std::string_view where) {
    const auto nearer = lesser(a, b);
    if (!nearer) return;
    const Side side = other(*nearer);
    findings.add_named("graph-path", side, nccl_graph_name(graphs.a.id), {},
                       fmt::format("{} {}", instead(side, a, b, ""), where));
  };
  compare(graphs.a.intra_type, graphs.b.intra_type, "between GPUs");
  compare(graphs.a.inter_type, graphs.b.inter_type, "to the network");
}

/// Whether one of them leaves NICs alone that the other goes by.
bool diff_nics_used(const HostPair& pair, const GraphPair& graphs, FindingList& findings) {
  const std::set<int> by_a = nics_of(graphs.slots_of_a);
  const std::set<int> by_b = nics_of(graphs.slots_of_b);
  if (by_a.size() == by_b.size() || by_a.empty() || by_b.empty()) return false;
  const Side side = by_a.size() < by_b.size() ? Side::a : Side::b;
  const std::set<int>& fewer = side == Side::a ? by_a : by_b;
  const std::set<int>& more = side == Side::a ? by_b : by_a;
  std::vector<DevicePair> left;
  for (const int slot : more) {
    if (!fewer.contains(slot)) left.push_back(pair_at(pair, {DeviceKind::nic, slot}));
  }
  findings.add_named("graph-nic-unused", side, finding_devices(pair, side, left), left,
                     fmt::format("{} uses {} NIC{} instead of {}", nccl_graph_name(graphs.a.id), fewer.size(),
                                 fewer.size() == 1 ? "" : "s", more.size()));
  return true;
}

/// Whether each device of a channel is certainly the counterpart of its counterpart: among equals whose
/// addresses are others, the match is one of many.
bool is_certain(const HostPair& pair, const ChannelGraph& by_slot) {
  const auto same_address = [&pair](const DevicePair& devices) {
    const auto a = pci_address_of(pair.a, *devices.a);
    const auto b = pci_address_of(pair.b, *devices.b);
    return a || b ? a == b : device_label(pair.a, *devices.a) == device_label(pair.b, *devices.b);
  };
  return std::ranges::all_of(by_slot.channels, [&](const auto& channel) {
    return std::ranges::all_of(channel, [&](const Device& slot) {
      const DevicePair& devices = pair_at(pair, slot);
      return devices.a && devices.b && same_address(devices);
    });
  });
}

/// "mlx5_0 → GPU0 → GPU1", as the machine of side b calls them.
std::string way_text(const HostPair& pair, const std::vector<Device>& way) {
  std::string text;
  for (const Device& slot : way) {
    const DevicePair& devices = pair_at(pair, slot);
    text += (text.empty() ? "" : " → ") +
            (devices.b ? device_label(pair.b, *devices.b) : device_label(pair.a, *devices.a));
  }
  return text;
}

/// The ways themselves, where nothing else says that they are others.
void diff_ways(const HostPair& pair, const GraphPair& graphs, FindingList& findings) {
  const std::string name = nccl_graph_name(graphs.a.id);
  if (lesser(graphs.a.cross_nic, graphs.b.cross_nic)) {
    findings.add_named("graph-cross-nic", Side::b, name, {},
                       graphs.b.cross_nic.value_or(false) ? "channels may leave through a different NIC"
                                                          : "channels leave through the NIC they entered by");
    return;
  }
  if (diff_nics_used(pair, graphs, findings)) return;
  if (lesser(graphs.a.pattern, graphs.b.pattern)) {
    findings.add_named("graph-order", Side::b, name, {},
                       "pattern " + instead(Side::b, graphs.a.pattern, graphs.b.pattern, ""));
    return;
  }
  if (graphs.a.channels.size() != graphs.b.channels.size()) return;
  if (!is_certain(pair, graphs.slots_of_a)) return;
  const auto& in_a = graphs.slots_of_a.channels;
  const auto& in_b = graphs.slots_of_b.channels;
  const auto [from, to] = std::mismatch(in_a.begin(), in_a.end(), in_b.begin(), in_b.end());
  if (from == in_a.end() || to == in_b.end()) return;
  findings.add_named("graph-order", Side::b, name, {},
                     fmt::format("{} instead of {}", way_text(pair, *to), way_text(pair, *from)));
}

}  // namespace

void diff_graphs(const HostPair& pair, FindingList& findings) {
  for (const ChannelGraph& a : pair.a.nccl_graphs) {
    for (const ChannelGraph& b : pair.b.nccl_graphs) {
      if (a.id != b.id) continue;
      const GraphPair graphs{a, b, by_slots(pair, a, Side::a), by_slots(pair, b, Side::b)};
      if (is_explained(pair, graphs.slots_of_a, Side::b) || is_explained(pair, graphs.slots_of_b, Side::a))
        continue;
      diff_rates(graphs, findings);
      diff_types(graphs, findings);
      diff_ways(pair, graphs, findings);
    }
  }
}

}  // namespace collbench::topology
