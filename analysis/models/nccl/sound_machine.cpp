#include "analysis/models/nccl/sound_machine.hpp"

#include <algorithm>
#include <tuple>

#include "analysis/models/nccl/node_nics.hpp"
#include "analysis/models/nccl/planned_node.hpp"
#include "topology/graph/lookup.hpp"
#include "topology/graph/path.hpp"
#include "topology/graph/port_state.hpp"
#include "topology/machines/reference_machines.hpp"

namespace collbench::analysis {
namespace {

/// Of equal hosts the more capable: more links, more NICs, quicker ones.
auto capability(const topology::Host& host) {
  int nvlinks = 0;
  for (int gpu = 0; gpu < static_cast<int>(host.gpus.size()); ++gpu)
    nvlinks += topology::nvlinks_of(host, {topology::DeviceKind::gpu, gpu});
  double gigabits = 0;
  for (const topology::Nic& nic : host.nics) gigabits += topology::usable_gigabits(nic);
  return std::tuple(host.gpus.size(), nvlinks, gigabits);
}

topology::Host best_of(const std::vector<topology::Host>& hosts) {
  std::vector<topology::Host> sound;
  for (const topology::Host& host : hosts) sound.push_back(as_sound(host));
  return *std::max_element(sound.begin(), sound.end(), [](const topology::Host& a, const topology::Host& b) {
    return capability(a) < capability(b);
  });
}

/// Where fewer ports are down than up, they are faults, and get the rate of the fastest; else they may be
/// second ports of cards, which many machines leave without a cable.
void raise_ports(topology::Host& host) {
  double fastest = 0;
  int up = 0;
  int all = 0;
  for (const topology::Nic& nic : host.nics) {
    fastest = std::max(fastest, topology::usable_gigabits(nic));
    up += topology::usable_gigabits(nic) > 0 ? 1 : 0;
    all += nic.ports.empty() ? 0 : 1;
  }
  if (all >= 2 * up) return;
  for (topology::Nic& nic : host.nics) {
    for (topology::NicPort& port : nic.ports) {
      if (topology::may_carry_traffic(port) || topology::usable_gigabits(nic) > 0) continue;
      port.state.value = "ACTIVE";
      port.physical_state.value = "LinkUp";
      port.gigabits_per_second.value = fastest;
    }
  }
}

/// Over Ethernet where the host is, though the reference machine is sold with InfiniBand, or the reverse.
SoundMachine detected(const std::string& argument, const topology::ReferenceMatch& match,
                      const topology::Host& found) {
  const topology::ReferenceMachine& machine = *match.machine;
  SoundMachine sound{{argument, {{topology::reference_host(machine)}}, &machine},
                     {YardstickKind::detected, std::string(machine.name), match.differences}};
  if (match.same_link_layer) return sound;
  const auto other = std::find_if(found.nics.begin(), found.nics.end(), [](const topology::Nic& nic) {
    return topology::usable_gigabits(nic) > 0;
  });
  if (other == found.nics.end()) return sound;
  sound.machine.reference = nullptr;
  for (topology::Nic& nic : sound.machine.topology.hosts.front().nics)
    nic.ports.front().link_layer.value = other->ports.front().link_layer.value;
  return sound;
}

}  // namespace

topology::Host as_sound(topology::Host host) {
  for (topology::PciDevice& device : host.pci_devices) {
    if (topology::is_virtual_bridge(host, device)) {
      device.link_now = device.link_max = {};
    } else if (device.link_max.width.known()) {
      device.link_now.width = device.link_max.width;
    }
  }
  for (topology::Gpu& gpu : host.gpus) gpu.gpudirect = {};
  for (topology::Nic& nic : host.nics) nic.gpudirect = {};
  raise_ports(host);
  const std::vector<int> nics = fast_enough_nics(host);
  return with_equal_links(as_nccl_reads_links(std::move(host)), nics);
}

SoundMachine sound_machine(const topology::ResolvedMachine& found, int nodes) {
  if (found.reference != nullptr)
    return {found, {YardstickKind::named, std::string(found.reference->name), {}}};
  std::vector<topology::ReferenceMatch> matches;
  for (const topology::Host& host : found.topology.hosts) {
    for (topology::ReferenceMatch& match : topology::nearest_references(host)) {
      if (match.same_gpus && (match.same_nics || nodes == 1)) return detected(found.argument, match, host);
      matches.push_back(std::move(match));
    }
  }
  SoundMachine own{{found.argument, {{best_of(found.topology.hosts)}}}, {YardstickKind::own, "", {}}};
  const auto nearest = std::min_element(matches.begin(), matches.end(),
                                        [](const auto& a, const auto& b) { return a.distance < b.distance; });
  if (nearest != matches.end() && nearest->distance < topology::kOfAnotherKind && nearest->says_something()) {
    own.yardstick.machine = std::string(nearest->machine->name);
    own.yardstick.differences = std::move(nearest->differences);
  }
  return own;
}

}  // namespace collbench::analysis
