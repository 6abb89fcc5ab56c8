// diff_devices() of parts.hpp: slots that are empty on one side.
// diff_gpus() of parts.hpp: what a GPU is and how it is set up; its links are elsewhere.
// diff_nics() of parts.hpp: NICs and their ports.
#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "topology/diff/parts.hpp"
#include "topology/graph/device_slots.hpp"
#include "topology/graph/lookup.hpp"
#include "topology/graph/nics.hpp"
#include "topology/graph/port_state.hpp"
#include "topology/readers/readers.hpp"

namespace collbench::topology {
namespace {

/// An empty slot and the bridges that its device hangs on, nearest first.
struct EmptySlot {
  DevicePair devices;
  Side without;  ///< the side where it is empty
  std::vector<std::string> bridges;
};

std::vector<std::string> bridges_above(const Host& host, const Device& device) {
  std::vector<std::string> bridges;
  const auto way = way_to_root(host, device);
  for (std::size_t i = 1; i < way.size(); ++i) bridges.push_back(way[i]->address);
  return bridges;
}

/// nvidia-smi counts GPUs from 0 without a gap: a list of links of GPU 0, 1 and 7 alone, cut from a longer
/// one, leaves out some that are there.
bool leaves_out_gpus(const Host& host) {
  const bool of_links = std::ranges::all_of(
      host.sources, [](const Source& source) { return source.reader == kNvidiaSmiNvlinkReader.name; });
  return of_links && !host.sources.empty() && std::ranges::any_of(host.gpus, [&host](const Gpu& gpu) {
           return std::cmp_greater_equal(gpu.index.value_or(0), host.gpus.size());
         });
}

/// Whether anything is said of what a device hangs on: without it a bridge cannot be missed. nvidia-smi's
/// lists of GPUs and of links are of devices alone.
bool shows_bridges(const Host& host) {
  return std::ranges::any_of(host.pci_devices,
                             [](const PciDevice& device) { return !device.parent.empty(); }) ||
         std::ranges::any_of(host.stated_paths, [&host](const StatedPath& path) {
           return nearness(host, path.from, path.to) != Nearness::unknown;
         });
}

std::vector<EmptySlot> empty_slots(const HostPair& pair) {
  std::vector<EmptySlot> empty;
  for (const auto* list : {&pair.match.gpus, &pair.match.nics}) {
    for (const DevicePair& devices : *list) {
      if (devices.a && devices.b) continue;
      const Side without = devices.a ? Side::b : Side::a;
      const DeviceKind kind = devices.of(other(without))->kind;
      if (!lists_all(pair.of(without), kind)) continue;
      if (kind == DeviceKind::gpu && leaves_out_gpus(pair.of(without))) continue;
      if (kind == DeviceKind::nic && lists_no_nic(pair.of(without))) continue;
      empty.push_back(
          {devices, without, bridges_above(pair.of(other(without)), *devices.of(other(without)))});
    }
  }
  return empty;
}

/// The bridges of `host` below which a device has a counterpart.
std::set<std::string> bridges_in_use(const HostPair& pair, Side side) {
  std::set<std::string> used;
  for (const DevicePair& devices : gpus_and_nics_on_both(pair.match)) {
    for (std::string& bridge : bridges_above(pair.of(side), *devices.of(side)))
      used.insert(std::move(bridge));
  }
  return used;
}

/// The topmost bridge above the slot below which nothing is left; empty when there is none.
std::string lost_bridge(const EmptySlot& slot, const std::set<std::string>& in_use) {
  std::string lost;
  for (const std::string& bridge : slot.bridges) {
    if (in_use.contains(bridge)) break;
    lost = bridge;
  }
  return lost;
}

/// The addresses of a reference machine are made up: where empty slots are, their neighbors tell.
std::string beside(const HostPair& pair, Side without, const std::vector<EmptySlot>& slots) {
  if (!pair.a_is_reference || without == Side::a) return {};
  const auto is_beside_one = [&](const std::vector<std::string>& above) {
    return !above.empty() && std::ranges::any_of(slots, [&](const EmptySlot& slot) {
      return !slot.bridges.empty() && slot.bridges.front() == above.front();
    });
  };
  std::vector<DevicePair> near = gpus_and_nics_on_both(pair.match);
  std::erase_if(near, [&](const DevicePair& each) { return !is_beside_one(bridges_above(pair.a, *each.a)); });
  return near.empty() ? std::string() : " beside " + finding_devices(pair, Side::b, near);
}

std::vector<DevicePair> devices_of(const std::vector<EmptySlot>& slots) {
  std::vector<DevicePair> devices;
  for (const EmptySlot& slot : slots) devices.push_back(slot.devices);
  return devices;
}

/// One finding for all of a kind: what several NICs cost together is not what each costs alone.
void add_missing(const HostPair& pair, FindingList& findings, Side without,
                 const std::vector<EmptySlot>& slots) {
  for (const DeviceKind kind : {DeviceKind::gpu, DeviceKind::nic}) {
    std::vector<EmptySlot> missing;
    for (const EmptySlot& slot : slots)
      if (slot.devices.of(other(without))->kind == kind) missing.push_back(slot);
    if (missing.empty()) continue;
    if (pair.a_is_reference && without == Side::a) {
      findings.add("extra-device", Side::b, devices_of(missing), "not part of the reference machine");
    } else {
      findings.add(kind == DeviceKind::gpu ? "gpu-missing" : "nic-missing", without, devices_of(missing),
                   "missing" + beside(pair, without, missing));
    }
  }
}

/// What hung below one lost bridge is one finding, when it is more than one device.
void add_lost(const HostPair& pair, FindingList& findings, Side without) {
  const std::set<std::string> in_use = bridges_in_use(pair, other(without));
  const bool may_miss_bridges = shows_bridges(pair.of(without));
  std::map<std::string, std::vector<EmptySlot>> by_bridge;
  for (const EmptySlot& slot : empty_slots(pair)) {
    if (slot.without == without)
      by_bridge[may_miss_bridges ? lost_bridge(slot, in_use) : std::string()].push_back(slot);
  }
  std::vector<EmptySlot> single;
  for (const auto& [bridge, slots] : by_bridge) {
    if (bridge.empty() || slots.size() < 2 || (pair.a_is_reference && without == Side::a)) {
      single.insert(single.end(), slots.begin(), slots.end());
      continue;
    }
    const std::vector<DevicePair> below = devices_of(slots);
    findings.add_named("switch-missing", without, "PCIe switch " + bridge, below,
                       "missing, with " + finding_devices(pair, other(without), below) + " below it");
  }
  add_missing(pair, findings, without, single);
}

/// Whether one machine's sources would list NICs and list none, and the other has some that nvidia-smi would.
void add_unlisted_nics(const HostPair& pair, FindingList& findings, Side side) {
  const std::vector<Nic>& nics = pair.of(other(side)).nics;
  const auto there = std::ranges::count_if(nics, is_rdma);
  if (there == 0 || pair.a_is_reference || !lists_no_nic(pair.of(side))) return;
  if (!lists_all(pair.of(side), DeviceKind::nic)) return;
  findings.add_named("nics-unlisted", side, "NICs", {},
                     fmt::format("none is listed; the other machine has {}", there));
}

/// Drivers put the maker before the model since release 440 or so.
std::string without_maker(std::string model) {
  for (const std::string_view maker : {"NVIDIA ", "Tesla "}) {
    if (model.starts_with(maker)) model.erase(0, maker.size());
  }
  return model;
}

void diff_model(FindingList& findings, const DevicePair& devices, const Gpu& a, const Gpu& b) {
  if (a.model.known() && b.model.known()) {
    if (without_maker(*a.model.value) != without_maker(*b.model.value)) {
      findings.add("gpu-model", Side::b, {devices}, instead(Side::b, a.model, b.model, ""));
      return;
    }
  }
  if (lesser(a.sm, b.sm)) {
    findings.add("gpu-model", Side::b, {devices}, "compute capability " + instead(Side::b, a.sm, b.sm, ""));
    return;
  }
  if (a.memory_bytes.value_or(0) > 0 && b.memory_bytes.value_or(0) > 0)
    add_if_less_memory(findings, "gpu-model", devices, a.memory_bytes, b.memory_bytes, " of memory");
}

void diff_mig(FindingList& findings, const DevicePair& devices, const Gpu& a, const Gpu& b) {
  if (lesser(a.mig, b.mig)) {
    findings.add("mig-on", a.mig.value_or(false) ? Side::a : Side::b, {devices}, "MIG mode is on");
  } else if (const auto fewer = lesser(a.mig_devices, b.mig_devices)) {
    findings.add("mig-on", other(*fewer), {devices},
                 instead(other(*fewer), a.mig_devices, b.mig_devices, "MIG devices"));
  }
}

bool ready(const Fact<std::string>& fact, std::string_view good) {
  return !fact.known() || *fact.value == good || *fact.value == "N/A";
}

/// A fault by itself, whatever the other machine says.
void check_fabric(FindingList& findings, const DevicePair& devices, Side side, const Gpu& gpu) {
  if (!ready(gpu.fabric_state, "Completed")) {
    findings.add("fabric-state", side, {devices}, "fabric state " + *gpu.fabric_state.value);
  } else if (!ready(gpu.fabric_status, "Success")) {
    findings.add("fabric-state", side, {devices}, "fabric status " + *gpu.fabric_status.value);
  }
}

/// A topology file that states one and the same figure for every port, none of a standard's rates, states
/// what NCCL is to count with (OCI's has 180 Gb/s for ports of 200), not how a port came up: it stands for
/// the next rate. One port that differs from its neighbors is what it says.
Fact<double> port_rate(const Host& host, const NicPort& port) {
  constexpr std::array kRates{1.0,  2.5,  5.0,  8.0,   10.0,  14.0,  20.0,  25.0,  32.0,
                              40.0, 50.0, 56.0, 100.0, 200.0, 400.0, 800.0, 1600.0};
  Fact<double> rate = port.gigabits_per_second;
  if (!rate.known() || host.nics.size() < 2) return rate;
  for (const Nic& nic : host.nics) {
    for (const NicPort& each : nic.ports) {
      if (each.gigabits_per_second.known() && each.gigabits_per_second.value != rate.value) return rate;
    }
  }
  const auto* const next = std::ranges::lower_bound(kRates, *rate.value);
  if (next != kRates.end()) rate.value = *next;
  return rate;
}

void diff_port(const HostPair& pair, FindingList& findings, const DevicePair& devices, const NicPort& a,
               const NicPort& b) {
  const auto name = fmt::format("port {}", b.number);
  if (may_carry_traffic(a) != may_carry_traffic(b)) {
    const Side down = may_carry_traffic(a) ? Side::b : Side::a;
    findings.add("nic-port-down", down, {devices},
                 fmt::format("{} is {}", name, port_state_text(down == Side::a ? a : b)));
    return;  // a port that is down has another rate, too
  }
  if (lesser(a.link_layer, b.link_layer)) {
    findings.add("nic-link-layer", Side::b, {devices},
                 fmt::format("{} is {}", name, instead(Side::b, a.link_layer, b.link_layer, "")));
  }
  if (const auto slower = lesser(port_rate(pair.a, a), port_rate(pair.b, b)))
    findings.add("nic-port-slower", *slower, {devices},
                 instead(*slower, a.gigabits_per_second, b.gigabits_per_second, "Gb/s"));
  if (const auto less = lesser(a.mtu_bytes, b.mtu_bytes))
    findings.add("nic-mtu", *less, {devices}, "MTU " + instead(*less, a.mtu_bytes, b.mtu_bytes, ""));
}

const NicPort* port_of(const Nic& nic, int number) {
  const auto found = std::ranges::find(nic.ports, number, &NicPort::number);
  return found == nic.ports.end() ? nullptr : &*found;
}

void diff_ports(const HostPair& pair, FindingList& findings, const DevicePair& devices, const Nic& a,
                const Nic& b) {
  if (a.ports.size() == 1 && b.ports.size() == 1) {  // sources number a lone port in their own way
    diff_port(pair, findings, devices, a.ports.front(), b.ports.front());
    return;
  }
  if (a.ports.empty() || b.ports.empty()) return;  // a source that knows of none
  for (const NicPort& port : a.ports) {
    if (const NicPort* counterpart = port_of(b, port.number)) {
      diff_port(pair, findings, devices, port, *counterpart);
    } else {
      findings.add("nic-port-down", Side::b, {devices}, fmt::format("port {} is missing", port.number));
    }
  }
  for (const NicPort& port : b.ports) {
    if (port_of(a, port.number) == nullptr)
      findings.add("nic-port-down", Side::a, {devices}, fmt::format("port {} is missing", port.number));
  }
}

void diff_part(FindingList& findings, const DevicePair& devices, const Nic& a, const Nic& b) {
  std::vector<std::string> words;
  if (lesser(a.board, b.board)) words.push_back("board " + instead(Side::b, a.board, b.board, ""));
  if (lesser(a.driver, b.driver)) words.push_back("driver " + instead(Side::b, a.driver, b.driver, ""));
  if (!words.empty()) findings.add("nic-model", Side::b, {devices}, join_words(words));
  if (lesser(a.firmware, b.firmware))
    findings.add("nic-firmware", Side::b, {devices},
                 "firmware " + instead(Side::b, a.firmware, b.firmware, ""));
}

/// nvidia-smi's label where a matrix has lost its legend: it counts them in the order of their names.
std::string name_or_label(const Nic& nic) { return nic.name.value_or(nic.label.value_or("")); }

/// Names that both machines use, where they go round the slots in another order. One that is only shifted by
/// a NIC more, or by a gap, keeps its rank, and NCCL goes by ranks.
void diff_names(const HostPair& pair, FindingList& findings) {
  std::set<std::string> of_a;
  std::set<std::string> of_b;
  each_pair(pair, pair.match.nics, &Host::nics, [&](const DevicePair&, const Nic& a, const Nic& b) {
    of_a.insert(name_or_label(a));
    of_b.insert(name_or_label(b));
  });
  std::vector<std::string> order_in_a;
  std::vector<std::string> order_in_b;
  std::vector<DevicePair> moved;
  std::vector<std::string> words;
  each_pair(pair, pair.match.nics, &Host::nics, [&](const DevicePair& devices, const Nic& a, const Nic& b) {
    const std::string in_a = name_or_label(a);
    const std::string in_b = name_or_label(b);
    if (in_a.empty() || in_b.empty()) return;
    if (of_b.contains(in_a)) order_in_a.push_back(in_a);
    if (!of_a.contains(in_b)) return;
    order_in_b.push_back(in_b);
    if (in_a == in_b) return;
    moved.push_back(devices);
    words.push_back(fmt::format("{} is where {} was", in_b, in_a));
  });
  if (order_in_a != order_in_b)
    findings.add_named("nic-renumbered", Side::b, finding_devices(pair, Side::b, moved), moved,
                       join_words(words));
}

}  // namespace

bool lists_no_nic(const Host& host) {
  return host.nics.empty() && !host.sources.empty() &&
         std::ranges::all_of(host.sources,
                             [](const Source& source) { return source.reader.starts_with("nvidia-smi"); });
}

void diff_devices(const HostPair& pair, FindingList& findings) {
  for (const Side without : {Side::a, Side::b}) {
    add_lost(pair, findings, without);
    add_unlisted_nics(pair, findings, without);
  }
  // A source that shows no NVSwitch at all may not know of them.
  if (pair.a.nvswitches.empty() != pair.b.nvswitches.empty()) return;
  for (const DevicePair& devices : pair.match.nvswitches) {
    if (devices.a && devices.b) continue;
    if (pair.a_is_reference && !devices.a) continue;
    findings.add("nvswitch-missing", devices.a ? Side::b : Side::a, {devices}, "missing");
  }
}

void diff_gpus(const HostPair& pair, FindingList& findings) {
  each_pair(pair, pair.match.gpus, &Host::gpus, [&](const DevicePair& devices, const Gpu& a, const Gpu& b) {
    diff_model(findings, devices, a, b);
    diff_mig(findings, devices, a, b);
    check_fabric(findings, devices, Side::a, a);
    check_fabric(findings, devices, Side::b, b);
    add_if_different(findings, "partitions", {devices}, a.partitions, b.partitions, "partitions");
    add_if_different(findings, "virtualization", {devices}, a.virtualization, b.virtualization,
                     "virtualization");
  });
}

void diff_nics(const HostPair& pair, FindingList& findings) {
  each_pair(pair, pair.match.nics, &Host::nics, [&](const DevicePair& devices, const Nic& a, const Nic& b) {
    diff_ports(pair, findings, devices, a, b);
    diff_part(findings, devices, a, b);
  });
  diff_names(pair, findings);
}

}  // namespace collbench::topology
