#include "analysis/verdict/finding_cost.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>
#include <vector>

#include "analysis/models/nccl/node_nics.hpp"
#include "topology/doctor/infiniband_ports.hpp"
#include "topology/graph/lookup.hpp"

namespace collbench::analysis {
namespace {

/// A machine with what its siblings have; none where that is not known.
using Mended = std::optional<topology::Host>;

/// The most that a port of the same board has, of those that `port-slow` compares.
Mended mend_port_rates(topology::Host host) {
  const topology::Host now = host;
  std::vector<topology::InfinibandPort> ports = topology::infiniband_ports(now);
  std::erase_if(ports, [&now](const topology::InfinibandPort& each) {
    return each.condition != topology::PortCondition::up || !now.nics[each.nic].board.known();
  });
  for (const topology::InfinibandPort& each : ports) {
    auto& rate = host.nics[each.nic].ports[each.port].gigabits_per_second;
    for (const topology::InfinibandPort& other : ports) {
      const auto& theirs = now.nics[other.nic].ports[other.port].gigabits_per_second;
      if (now.nics[other.nic].board.value == now.nics[each.nic].board.value && rate.value_or(0) > 0 &&
          theirs.value_or(0) > *rate.value)
        rate = theirs;
    }
  }
  return host;
}

/// A port that is lost, as those of its board that are up. Where the board is not known or they differ, what
/// it would carry is not known: a chip of 400 Gb/s is also built into cards of 200.
Mended mend_ports(topology::Host host) {
  const topology::Host now = host;
  for (const topology::InfinibandPort& each : topology::infiniband_ports(now)) {
    if (!each.is_lost()) continue;
    topology::Nic& nic = host.nics[each.nic];
    const topology::NicPort& up = *each.siblings_up.front();
    const bool alike = std::ranges::all_of(each.siblings_up, [&up](const topology::NicPort* sibling) {
      return sibling->gigabits_per_second.value == up.gigabits_per_second.value;
    });
    if (!nic.board.known() || !alike || !up.gigabits_per_second.known()) return std::nullopt;
    topology::NicPort& port = nic.ports[each.port];
    port.state = up.state;
    port.physical_state = up.physical_state;
    port.gigabits_per_second = up.gigabits_per_second;
  }
  return host;
}

/// As many NVLinks as the GPU of the same model with the most.
Mended mend_nvlinks(topology::Host host) {
  for (topology::Gpu& gpu : host.gpus) {
    for (const topology::Gpu& other : host.gpus)
      if (other.model.value_or("") == gpu.model.value_or("") &&
          other.nvlinks_active.value_or(0) > gpu.nvlinks_active.value_or(0))
        gpu.nvlinks_active = other.nvlinks_active;
  }
  return host;
}

/// Links of a GPU or a NIC as wide as both ends allow.
Mended mend_widths(topology::Host host) {
  for (topology::PciDevice& device : host.pci_devices) {
    if (!device.link_now.width.known() || !device.link_max.width.known()) continue;
    const auto above = std::ranges::find(host.pci_devices, device.parent, &topology::PciDevice::address);
    if (above == host.pci_devices.end() || !above->link_max.width.known()) continue;
    device.link_now.width.value = std::max(
        *device.link_now.width.value, std::min(*device.link_max.width.value, *above->link_max.width.value));
  }
  return host;
}

constexpr std::array<std::pair<std::string_view, Mended (*)(topology::Host)>, 4> kMends{{
    {"port-slow", mend_port_rates},
    {"port-down", mend_ports},
    {"nvlink-inactive", mend_nvlinks},
    {"pcie-narrow", mend_widths},
}};

/// NICs whose ports, or links on their way to the CPU, are not as they were.
std::vector<int> changed_nics(const topology::Host& now, const topology::Host& mended) {
  std::vector<int> changed;
  for (std::size_t i = 0; i < now.nics.size(); ++i) {
    const std::string address = now.nics[i].pci_address.value_or("");
    const auto before = topology::way_to_root(now, address);
    const auto after = topology::way_to_root(mended, address);
    const bool same_way = std::equal(before.begin(), before.end(), after.begin(), after.end(),
                                     [](const auto* x, const auto* y) { return *x == *y; });
    if (!same_way || !(now.nics[i] == mended.nics[i])) changed.push_back(static_cast<int>(i));
  }
  return changed;
}

}  // namespace

std::string doctor_price(const topology::Host& host, std::string_view code) {
  const auto* mend = std::ranges::find_if(kMends, [code](const auto& each) { return each.first == code; });
  if (mend == kMends.end()) return {};
  const Mended healthy = mend->second(host);
  if (!healthy || *healthy == host) return {};
  const std::vector<int> nics = changed_nics(host, *healthy);
  if (std::ranges::any_of(
          nics, [&](int nic) { return shares_a_full_link(host, nic) || shares_a_full_link(*healthy, nic); }))
    return fmt::format("not modeled: {}", kFullLink);
  // A port may come up at a lower rate while a job runs; the others are a restart away or not modeled then.
  const std::vector<FindingCost> costs = machine_costs(*healthy, host, code == "port-slow");
  if (costs.empty()) return {};
  const std::string sentence = cost_sentence(costs);
  return sentence.empty() ? "none in the model: AllReduce of 8 GiB keeps its rate" : sentence;
}

}  // namespace collbench::analysis
