// diff_devices() of diff_parts.hpp: seats that are empty on one side.
#include <algorithm>
#include <set>

#include "topology/diff_parts.hpp"
#include "topology/lookup.hpp"
#include "topology/told_devices.hpp"

namespace collbench {
namespace {

/// An empty seat and the bridges that its device hangs on, nearest first.
struct EmptySeat {
  Twins twins;
  Side without;  ///< the side where it is empty
  std::vector<std::string> bridges;
};

std::vector<std::string> bridges_above(const Host& host, const Device& device) {
  std::vector<std::string> bridges;
  const auto way = way_to_root(host, pci_address_of(host, device).value_or(""));
  for (std::size_t i = 1; i < way.size(); ++i) bridges.push_back(way[i]->address);
  return bridges;
}

std::vector<EmptySeat> empty_seats(const HostPair& pair) {
  std::vector<EmptySeat> empty;
  for (const auto* list : {&pair.match.gpus, &pair.match.nics}) {
    for (const Twins& twins : *list) {
      if (twins.a && twins.b) continue;
      const Side without = twins.a ? Side::b : Side::a;
      if (!tells_of(pair.of(without), twins.of(other(without))->kind)) continue;
      empty.push_back({twins, without, bridges_above(pair.of(other(without)), *twins.of(other(without)))});
    }
  }
  return empty;
}

/// The bridges of `host` below which a device has a twin.
std::set<std::string> bridges_in_use(const HostPair& pair, Side side) {
  std::set<std::string> used;
  for (const auto* list : {&pair.match.gpus, &pair.match.nics}) {
    for (const Twins& twins : *list) {
      if (!twins.a || !twins.b) continue;
      for (std::string& bridge : bridges_above(pair.of(side), *twins.of(side)))
        used.insert(std::move(bridge));
    }
  }
  return used;
}

/// The topmost bridge above the seat below which nothing is left; empty when there is none.
std::string lost_bridge(const EmptySeat& seat, const std::set<std::string>& in_use) {
  std::string lost;
  for (const std::string& bridge : seat.bridges) {
    if (in_use.contains(bridge)) break;
    lost = bridge;
  }
  return lost;
}

void add_missing(const HostPair& pair, FindingList& findings, const EmptySeat& seat) {
  const bool gpu = seat.twins.of(other(seat.without))->kind == DeviceKind::gpu;
  if (pair.a_is_reference && seat.without == Side::a) {
    findings.add("extra-device", Side::b, {seat.twins}, "not part of the reference machine");
  } else {
    findings.add(gpu ? "gpu-missing" : "nic-missing", seat.without, {seat.twins}, "missing");
  }
}

/// What hung below one lost bridge is one finding, when it is more than one device.
void add_lost(const HostPair& pair, FindingList& findings, Side without) {
  const std::set<std::string> in_use = bridges_in_use(pair, other(without));
  std::map<std::string, std::vector<EmptySeat>> by_bridge;
  for (const EmptySeat& seat : empty_seats(pair)) {
    if (seat.without == without) by_bridge[lost_bridge(seat, in_use)].push_back(seat);
  }
  for (const auto& [bridge, seats] : by_bridge) {
    if (bridge.empty() || seats.size() < 2 || (pair.a_is_reference && without == Side::a)) {
      for (const EmptySeat& seat : seats) add_missing(pair, findings, seat);
      continue;
    }
    std::vector<Twins> below;
    for (const EmptySeat& seat : seats) below.push_back(seat.twins);
    findings.add_named("switch-missing", without, "PCIe switch " + bridge, below,
                       "missing, with " + finding_devices(pair, other(without), below) + " below it");
  }
}

}  // namespace

void diff_devices(const HostPair& pair, FindingList& findings) {
  for (const Side without : {Side::a, Side::b}) add_lost(pair, findings, without);
  // A source that shows no NVSwitch at all may not know of them.
  if (pair.a.nvswitches.empty() != pair.b.nvswitches.empty()) return;
  for (const Twins& twins : pair.match.nvswitches) {
    if (twins.a && twins.b) continue;
    if (pair.a_is_reference && !twins.a) continue;
    findings.add("nvswitch-missing", twins.a ? Side::b : Side::a, {twins}, "missing");
  }
}

}  // namespace collbench
