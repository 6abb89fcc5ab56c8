#include "analysis/models/nccl/sound_machine.hpp"

#include <algorithm>
#include <iterator>
#include <tuple>

#include "analysis/models/nccl/node_nics.hpp"
#include "analysis/models/nccl/planned_node.hpp"
#include "analysis/models/nccl/transport.hpp"
#include "topology/catalog/gpus.hpp"
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
  return *std::ranges::max_element(
      sound, [](const topology::Host& a, const topology::Host& b) { return capability(a) < capability(b); });
}

/// "0000:17:00" of "0000:17:00.1"; empty where it is not known.
std::string card_of(const topology::Nic& nic) {
  const std::string address = nic.pci_address.value_or("");
  return address.substr(0, address.rfind('.'));
}

/// Whether a port that is down should be up: another NIC of its link layer is up, and none on its own card,
/// whose second port many machines leave without a cable. Where cards are not known, fewer must be down than
/// up.
bool is_lost(const topology::Nic& nic, const topology::Host& host) {
  if (nic.ports.empty() || topology::usable_gigabits(nic) > 0) return false;
  int up = 0;
  bool is_beside = false;
  for (const topology::Nic& other : host.nics) {
    if (topology::usable_gigabits(other) <= 0) continue;
    up += other.ports.front().link_layer.value == nic.ports.front().link_layer.value ? 1 : 0;
    is_beside = is_beside || card_of(other) == card_of(nic);
  }
  if (card_of(nic).empty()) return 2 * up > static_cast<int>(host.nics.size());
  return up > 0 && !is_beside;
}

void raise_ports(topology::Host& host) {
  double fastest = 0;
  for (const topology::Nic& nic : host.nics) fastest = std::max(fastest, topology::usable_gigabits(nic));
  const topology::Host before = host;
  for (std::size_t i = 0; i < host.nics.size(); ++i) {
    if (!is_lost(before.nics[i], before)) continue;
    topology::NicPort& port = host.nics[i].ports.front();
    port.state.value = "ACTIVE";
    port.physical_state.value = "LinkUp";
    port.gigabits_per_second.value = fastest;
  }
}

/// Whether the host may have the machine's network: what providers' machines have is nothing else; the others
/// are sold with InfiniBand, and some run over Ethernet.
bool same_network(const topology::ReferenceMatch& match, const topology::Host& host) {
  const topology::GpuModel* gpu = topology::find_gpu_model(match.machine->gpu_model);
  const auto generation = gpu == nullptr ? GpuGeneration::unknown : gpu->generation();
  const Transport found = analysis::transport_of(host, generation);
  const auto sold = find_transport(match.machine->nic_transport, generation);
  if (sold == Transport::infiniband)
    return found == Transport::infiniband || found == Transport::roce || found == Transport::unknown;
  return found == Transport::unknown ? match.same_link_layer : found == sold;
}

/// Over Ethernet where the host is, though the reference machine is sold with InfiniBand.
SoundMachine detected(const std::string& argument, const topology::ReferenceMatch& match) {
  const topology::ReferenceMachine& machine = *match.machine;
  SoundMachine sound{{argument, {{topology::reference_host(machine)}}, &machine},
                     {YardstickKind::detected, std::string(machine.name), match.differences}};
  if (match.same_link_layer) return sound;
  sound.machine.reference = nullptr;
  for (topology::Nic& nic : sound.machine.topology.hosts.front().nics) {
    nic.ports.front().link_layer.value = "Ethernet";
    nic.driver.value = "mlx5_core";  // RoCE
  }
  return sound;
}

/// Of several nodes the best, for what the others lack is damage; of different GPUs the slowest, which the
/// others wait for.
const topology::ReferenceMatch& yardstick_among(const std::vector<topology::ReferenceMatch>& same) {
  const auto weaker = [](const topology::ReferenceMatch& a, const topology::ReferenceMatch& b) {
    return capability(topology::reference_host(*a.machine)) <
           capability(topology::reference_host(*b.machine));
  };
  const bool is_mixed = std::ranges::any_of(same, [&](const topology::ReferenceMatch& each) {
    return each.machine->gpu_model != same.front().machine->gpu_model;
  });
  return is_mixed ? *std::ranges::min_element(same, weaker) : *std::ranges::max_element(same, weaker);
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
  std::vector<topology::ReferenceMatch> same;  // the nearest of each host that is of a known kind
  for (const topology::Host& host : found.topology.hosts) {
    std::vector<topology::ReferenceMatch> nearest = topology::nearest_references(host);
    const auto match = std::ranges::find_if(nearest, [&](const auto& each) {
      return each.same_gpus && (nodes == 1 || (each.same_nics && same_network(each, host)));
    });
    if (match != nearest.end()) same.push_back(*match);
    std::copy_if(nearest.begin(), nearest.end(), std::back_inserter(matches),
                 [&](const auto& each) { return nodes == 1 || same_network(each, host); });
  }
  if (!same.empty()) return detected(found.argument, yardstick_among(same));
  SoundMachine own{{found.argument, {{best_of(found.topology.hosts)}}}, {YardstickKind::own, "", {}}};
  const auto nearest = std::ranges::min_element(matches, {}, &topology::ReferenceMatch::distance);
  if (nearest != matches.end() && nearest->distance < topology::kOfAnotherKind && nearest->says_something()) {
    own.yardstick.machine = std::string(nearest->machine->name);
    own.yardstick.differences = std::move(nearest->differences);
  }
  return own;
}

}  // namespace collbench::analysis
