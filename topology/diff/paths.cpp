// diff_paths() of parts.hpp: which devices meet below one switch, below one CPU, or only between CPUs.
#include <algorithm>
#include <iterator>
#include <optional>

#include "base/units.hpp"
#include "topology/diff/parts.hpp"
#include "topology/graph/device_slots.hpp"
#include "topology/graph/lookup.hpp"

namespace collbench::topology {
namespace {

struct Change {
  Nearness in_a = Nearness::unknown;
  Nearness in_b = Nearness::unknown;
};
using ChangedPath = ChangedPair<Change>;

constexpr std::size_t kFewPaths = 3;  // fewer than that may be one device that moved

std::string_view nearness_text(Nearness near) {
  switch (near) {
    case Nearness::one_switch:
      return "through one PCIe switch";
    case Nearness::one_node:
      return "through one CPU";
    case Nearness::far:
      return "across CPUs";
    case Nearness::unknown:
      break;
  }
  return "unknown";
}

bool by_a_switch(const Change& change) {
  return (change.in_a == Nearness::one_switch) != (change.in_b == Nearness::one_switch);
}

/// nvidia-smi says SYS of any two devices of a Grace tray, also of one CPU's, because C2C is no PCIe
/// (kubernetes-sigs/ dranet, examples/oke-bm-gpu-gb200-rocev2-dranet; sgl-project/sglang#11208): that says
/// nothing of the way between them.
bool says_far_of_all(const Host& host, const Device& a, const Device& b) {
  const StatedPath* stated = find_stated_path(host, a, b);
  return stated != nullptr && stated->type.value == PathType::sys;
}

/// Bridges that a hypervisor made up, above two devices.
struct VirtualBridges {
  bool any = false;
  bool meeting = false;  ///< the devices meet at one: how near they are to each other, it does not say
};

VirtualBridges virtual_bridges(const Host& host, const Device& a, const Device& b) {
  const auto way_a = way_to_root(host, a);
  const auto way_b = way_to_root(host, b);
  const auto is_virtual = [&host](const PciDevice* step) { return is_virtual_bridge(host, *step); };
  const auto shared = std::ranges::find_first_of(way_a, way_b);
  return {std::ranges::any_of(way_a, is_virtual) || std::ranges::any_of(way_b, is_virtual),
          shared != way_a.end() && is_virtual(*shared)};
}

struct Paths {
  std::vector<ChangedPath> changed;
  std::size_t by_switch_in_a = 0;
  std::size_t by_switch_in_b = 0;
};

/// How near two devices are on each side; none where one side does not say.
std::optional<Change> nearness_on_both(const HostPair& pair, const DevicePair& from, const DevicePair& to) {
  const Change change{nearness(pair.a, *from.a, *to.a), nearness(pair.b, *from.b, *to.b)};
  if (change.in_a == Nearness::unknown || change.in_b == Nearness::unknown) return std::nullopt;
  const VirtualBridges made_in_a = virtual_bridges(pair.a, *from.a, *to.a);
  const VirtualBridges made_in_b = virtual_bridges(pair.b, *from.b, *to.b);
  // Of two virtual machines NCCL plans by these bridges, too.
  if ((made_in_a.meeting && !made_in_b.any) || (made_in_b.meeting && !made_in_a.any)) return std::nullopt;
  const bool arm = pair.a_is_reference && (has_arm_cpu(pair.a) || has_arm_cpu(pair.b));
  if (arm && (says_far_of_all(pair.a, *from.a, *to.a) || says_far_of_all(pair.b, *from.b, *to.b)))
    return std::nullopt;
  return change;
}

Paths all_paths(const HostPair& pair) {
  const std::vector<DevicePair> devices = gpus_and_nics_on_both(pair.match);
  Paths paths;
  for (std::size_t i = 0; i < devices.size(); ++i) {
    for (std::size_t j = i + 1; j < devices.size(); ++j) {
      const auto change = nearness_on_both(pair, devices[i], devices[j]);
      if (!change) continue;
      paths.by_switch_in_a += change->in_a == Nearness::one_switch ? 1 : 0;
      paths.by_switch_in_b += change->in_b == Nearness::one_switch ? 1 : 0;
      if (change->in_a != change->in_b) paths.changed.push_back({devices[i], devices[j], *change});
    }
  }
  return paths;
}

/// Whether NUMA nodes explain the change, which has a finding of its own.
bool numa_explains(const HostPair& pair, const ChangedPath& path) {
  if (by_a_switch(path.what)) return false;
  if (!same_numa_nodes(pair)) return true;
  return has_moved(pair, path.from) || has_moved(pair, path.to);
}

std::string describe(const HostPair& pair, Side side, const Explained<Change>& explained) {
  std::vector<std::string> parts;
  for (const ChangedPath& path : explained.pairs) {
    const DevicePair& peer = path.from == explained.device ? path.to : path.from;
    const Nearness mine = side == Side::a ? path.what.in_a : path.what.in_b;
    const Nearness theirs = side == Side::a ? path.what.in_b : path.what.in_a;
    parts.push_back(fmt::format("reaches {} {} instead of {}", finding_devices(pair, side, {peer}),
                                nearness_text(mine), nearness_text(theirs)));
  }
  return join_words(parts);
}

/// Boards of one type share their PCIe switches in different ways: what is closer than on the reference
/// machine is one finding, which names the first pair.
void add_closer_than_reference(const HostPair& pair, std::vector<ChangedPath>& changed,
                               FindingList& findings) {
  const auto is_closer = [](const ChangedPath& path) { return path.what.in_b < path.what.in_a; };
  const auto first = std::ranges::find_if(changed, is_closer);
  if (first == changed.end()) return;
  const auto count = std::ranges::count_if(changed, is_closer);
  findings.add_named(
      "exceeds-reference", Side::b, "PCIe", {},
      fmt::format("{} of devices {} closer than on the reference machine; the first: {} {} instead of {}",
                  counted(count, "pair"), count == 1 ? "is" : "are",
                  finding_devices(pair, Side::b, {first->from, first->to}), nearness_text(first->what.in_b),
                  nearness_text(first->what.in_a)));
  std::erase_if(changed, is_closer);
}

}  // namespace

std::vector<DevicePair> gpus_and_nics_on_both(const DeviceMatch& match) {
  std::vector<DevicePair> devices;
  for (const auto* list : {&match.gpus, &match.nics}) {
    std::ranges::copy_if(*list, std::back_inserter(devices),
                         [](const DevicePair& each) { return each.a && each.b; });
  }
  return devices;
}

bool has_arm_cpu(const Host& host) {
  return std::ranges::any_of(host.numa_nodes,
                             [](const NumaNode& node) { return node.architecture.value == "arm64"; });
}

void diff_paths(const HostPair& pair, FindingList& findings) {
  Paths paths = all_paths(pair);
  const bool hidden_in_a = paths.by_switch_in_a == 0 && paths.by_switch_in_b >= kFewPaths;
  const bool hidden_in_b = paths.by_switch_in_b == 0 && paths.by_switch_in_a >= kFewPaths;
  if (hidden_in_a || hidden_in_b) {
    findings.add_named("switches-hidden", hidden_in_a ? Side::a : Side::b, "PCIe switches", {},
                       fmt::format("no two devices share one; on the other machine {} pairs do",
                                   std::max(paths.by_switch_in_a, paths.by_switch_in_b)));
    return;
  }
  std::erase_if(paths.changed, [&](const ChangedPath& path) { return numa_explains(pair, path); });
  if (pair.a_is_reference) add_closer_than_reference(pair, paths.changed, findings);
  for (const Explained<Change>& each : explain_pairs(paths.changed)) {
    const bool further_in_b = std::ranges::any_of(
        each.pairs, [](const ChangedPath& path) { return path.what.in_b > path.what.in_a; });
    const Side side = further_in_b ? Side::b : Side::a;
    std::vector<DevicePair> devices{each.device};
    if (each.pairs.size() == 1) devices = {each.pairs.front().from, each.pairs.front().to};
    findings.add_named("devices-apart", side, finding_devices(pair, side, {each.device}), devices,
                       describe(pair, side, each));
  }
}

}  // namespace collbench::topology
