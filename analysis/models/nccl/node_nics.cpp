#include "analysis/models/nccl/node_nics.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "topology/catalog/links.hpp"
#include "topology/graph/lookup.hpp"
#include "topology/graph/path.hpp"
#include "topology/graph/port_state.hpp"

namespace collbench::analysis {
namespace {

constexpr double kMinFastGigabits = 100;  // slower ones are for management
// NCCL 2.30 src/graph/search.cc: its search can use a NIC down to this part of the speed of the others.
constexpr double kUsablePart = 0.49;
constexpr topology::Device gpu_at(int index) { return {topology::DeviceKind::gpu, index}; }

std::string_view slot_of(std::string_view address) { return address.substr(0, address.rfind('.')); }

/// NICs with traffic in the slot of `address`: the ports of a card, as functions or at one function, share
/// its PCIe link. 1 for any other device.
int nics_in_slot(const topology::Host& host, std::string_view address) {
  const std::string_view slot = slot_of(address);
  const auto sharing = std::ranges::count_if(host.nics, [slot](const topology::Nic& nic) {
    const std::string theirs = nic.pci_address.value_or("");
    return !theirs.empty() && slot_of(theirs) == slot && topology::usable_gigabits(nic) > 0;
  });
  return std::max(1, static_cast<int>(sharing));
}

/// Of the device at `address`, its part where several NICs share a slot; 0: not known.
double pcie_rate_at(const topology::Host& host, std::string_view address) {
  const topology::PciDevice* device = topology::find_pci_device(host, address);
  if (device == nullptr || !device->link_max.gigatransfers_per_second.known()) return 0;
  const int width = device->link_now.width.value_or(device->link_max.width.value_or(16));
  // Virtual machines show links of no use: 2.5 GT/s or no width (NVIDIA/nccl#749).
  if (width == 0 || *device->link_max.gigatransfers_per_second.value < 8) return 0;
  return topology::pcie_rate(*device->link_max.gigatransfers_per_second.value, width).gigabytes_per_second /
         nics_in_slot(host, address);
}

constexpr topology::Device nic_at(int index) { return {topology::DeviceKind::nic, index}; }

struct NextGpus {
  std::vector<int> by_pcie;  ///< no host bridge between (PXB)
  std::vector<int> by_c2c;   ///< with their own link to the NIC's CPU (P2C)
};

NextGpus next_gpus(const topology::Host& host, int index) {
  NextGpus next;
  for (int i = 0; i < static_cast<int>(host.gpus.size()); ++i) {
    const topology::StatedPath* stated = topology::find_stated_path(host, gpu_at(i), nic_at(index));
    const auto type = stated != nullptr && stated->type.known()
                          ? stated->type.value
                          : topology::pci_path_type(host, gpu_at(i), nic_at(index));
    if (!type || *type >= topology::PathType::sys) continue;
    if (*type <= topology::PathType::pxb) next.by_pcie.push_back(i);
    if (host.gpus[static_cast<std::size_t>(i)].c2c_links.value_or(0) > 0) next.by_c2c.push_back(i);
  }
  return next;
}

/// Those that NCCL prefers to any other way.
std::vector<int> gpus_next_to(const topology::Host& host, int index) {
  const NextGpus next = next_gpus(host, index);
  return next.by_pcie.empty() ? next.by_c2c : next.by_pcie;
}

double lower_known(double a, double b) { return a > 0 && b > 0 ? std::min(a, b) : std::max(a, b); }

/// The slowest PCIe link from the device up to where it meets the other one; 0: none is known.
double pcie_towards(const topology::Host& host, const topology::Device& from, const topology::Device& to) {
  const auto way = topology::way_to_root(host, topology::pci_address_of(host, from).value_or(""));
  const auto other = topology::way_to_root(host, topology::pci_address_of(host, to).value_or(""));
  double slowest = 0;
  for (const topology::PciDevice* device : way) {
    if (std::ranges::find(other, device) != other.end()) break;
    slowest = lower_known(slowest, pcie_rate_at(host, device->address));
  }
  return slowest;
}

/// A NIC and the GPUs that share its switch.
struct PlacedNic {
  NicLink link;
  std::vector<int> gpus;
  int nics = 1;              ///< next to the same GPUs
  double slowest_gpu = 0;    ///< of their PCIe links; 0: not known
  double channels_room = 0;  ///< channels of this NIC's rate that those of `gpus` carry which carry one
};

PlacedNic placed_nic(const topology::Host& host, int index) {
  const topology::Nic& each = host.nics[static_cast<std::size_t>(index)];
  PlacedNic placed;
  placed.link.line_rate = topology::nic_rate(topology::usable_gigabits(each)).gigabytes_per_second;
  placed.link.path = pcie_rate_at(host, each.pci_address.value_or(""));
  placed.gpus = gpus_next_to(host, index);
  for (const int next : placed.gpus) {
    placed.link.path = lower_known(placed.link.path, pcie_towards(host, nic_at(index), gpu_at(next)));
    placed.slowest_gpu = lower_known(placed.slowest_gpu, pcie_towards(host, gpu_at(next), nic_at(index)));
  }
  return placed;
}

std::vector<PlacedNic> placed_nics(const topology::Host& host, const std::vector<int>& indices,
                                   GpuGeneration generation) {
  std::vector<PlacedNic> all;
  for (const int index : indices) all.push_back(placed_nic(host, index));
  // What a source leaves out is as on the others: no NIC is slower for it.
  double usual_path = 0;
  for (const PlacedNic& each : all) usual_path = std::max(usual_path, each.link.path);
  for (PlacedNic& each : all) {
    if (each.link.path == 0) each.link.path = usual_path;
  }
  for (PlacedNic& each : all) {
    each.nics = static_cast<int>(std::ranges::count(all, each.gpus, &PlacedNic::gpus));
    if (each.gpus.size() > 1) {
      each.link.neighbors = each.nics > 1 ? NicNeighbors::gpus_and_nics : NicNeighbors::gpus_without_a_nic;
    }
    const std::span<const double> speeds = nccl_generation(generation).network_speeds;
    const auto speed =
        std::ranges::find_if(speeds, [&](double tried) { return tried <= each.link.nccl_rate(); });
    for (const int next : each.gpus) {
      const double pcie =
          pcie_rate_at(host, host.gpus[static_cast<std::size_t>(next)].pci_address.value_or(""));
      if (pcie == 0 || speed == speeds.end()) {
        each.channels_room = each.nics;  // not known: it does not limit
      } else if (pcie >= each.link.nccl_rate()) {
        each.channels_room += std::floor(pcie / *speed);
      }
    }
  }
  return all;
}

/// What NCCL's search does not use while it has others: NICs that no GPU is next to (it looks beyond PXN only
/// while it has found nothing), and those whose GPUs' PCIe links carry less than the way through the CPU.
void drop_unreached(std::vector<PlacedNic>& nics) {
  std::vector<PlacedNic> reached;
  std::map<std::vector<int>, int> taken;
  for (const PlacedNic& each : nics) {
    if (!each.gpus.empty() && taken[each.gpus]++ < static_cast<int>(each.channels_room))
      reached.push_back(each);
  }
  if (!reached.empty()) nics = std::move(reached);
}

/// GB/s that the link of the device at `address` carries after coding; 0: not known.
double carried_at(const topology::Host& host, std::string_view address) {
  const double nccl_rate = pcie_rate_at(host, address) * nics_in_slot(host, address);
  return nccl_rate / topology::pcie_rate_of_coded(1).gigabytes_per_second;
}

using Way = std::vector<const topology::PciDevice*>;

Way way_of(const topology::Host& host, const topology::Device& device) {
  return topology::way_to_root(host, topology::pci_address_of(host, device).value_or(""));
}

/// Ports of NICs that share a link.
struct Sharing {
  std::size_t ports = 0;
  double gigabytes = 0;

  /// Whether there are several, and together they exceed what the link carries; 0: that is not known.
  [[nodiscard]] bool exceeds(double carried) const { return ports > 1 && carried > 0 && gigabytes > carried; }
};

}  // namespace

std::vector<int> fast_enough_nics(const topology::Host& host) {
  double fastest = 0;
  for (const topology::Nic& each : host.nics) fastest = std::max(fastest, topology::usable_gigabits(each));
  std::vector<int> found;
  for (int i = 0; i < static_cast<int>(host.nics.size()); ++i) {
    const double gigabits = topology::usable_gigabits(host.nics[static_cast<std::size_t>(i)]);
    const double least = std::min(kMinFastGigabits, kUsablePart * fastest);
    if (gigabits > 0 && gigabits >= least) found.push_back(i);
  }
  return found;
}

NodeNics node_nics(const topology::Host& host, GpuGeneration generation) {
  std::vector<PlacedNic> nics = placed_nics(host, fast_enough_nics(host), generation);
  drop_unreached(nics);
  NodeNics found;
  found.used = static_cast<int>(nics.size());
  const auto fastest = std::ranges::max_element(
      nics, [](const PlacedNic& a, const PlacedNic& b) { return a.link.nccl_rate() < b.link.nccl_rate(); });
  if (fastest == nics.end()) return found;
  found.one_gpu_each = std::ranges::all_of(nics, [](const PlacedNic& each) { return each.gpus.size() == 1; });
  const int sharing = std::max(1, static_cast<int>(fastest->gpus.size()));
  found.per_gpu = (fastest->nics + sharing - 1) / sharing;
  found.fastest = fastest->link;
  for (const PlacedNic& each : nics) {
    if (each.link.nccl_rate() < fastest->link.nccl_rate()) found.slower.push_back(each.link);
  }
  return found;
}

std::optional<NicLink> slowest_nic(const topology::Host& healthy, const topology::Host& now) {
  std::optional<NicLink> slowest;
  if (now.nics.size() != healthy.nics.size() || now.gpus.size() != healthy.gpus.size()) return slowest;
  std::vector<PlacedNic> nics;
  for (const int index : fast_enough_nics(healthy)) nics.push_back(placed_nic(now, index));
  for (PlacedNic& each : nics) {
    // Each GPU carries its share of the channels of the NICs beside it.
    const auto beside = static_cast<double>(std::ranges::count(nics, each.gpus, &PlacedNic::gpus));
    const double per_gpu = std::max(1.0, beside / std::max(1.0, static_cast<double>(each.gpus.size())));
    each.link.path = lower_known(each.link.path, each.slowest_gpu / per_gpu);
    if (!slowest || each.link.nccl_rate() < slowest->nccl_rate()) slowest = each.link;
  }
  return slowest;
}

bool shares_a_full_link(const topology::Host& host, int nic) {
  const auto sharing = [&](auto shares) {
    Sharing sum;
    for (const int each : fast_enough_nics(host)) {
      if (!shares(each)) continue;
      const topology::Nic& sharer = host.nics[static_cast<std::size_t>(each)];
      sum.ports += static_cast<std::size_t>(std::ranges::count_if(sharer.ports, topology::may_carry_traffic));
      sum.gigabytes += topology::nic_rate(topology::usable_gigabits(sharer)).gigabytes_per_second;
    }
    return sum;
  };
  const std::vector<int> gpus = next_gpus(host, nic).by_pcie;
  const auto leads_to_a_gpu = [&](const topology::PciDevice* step) {
    return std::ranges::any_of(gpus, [&](int gpu) {
      const Way way = way_of(host, gpu_at(gpu));
      return std::ranges::find(way, step) != way.end();
    });
  };
  const Way way = way_of(host, nic_at(nic));
  for (std::size_t i = 0; i < way.size() && !leads_to_a_gpu(way[i]); ++i) {
    const Sharing sum = sharing([&](int each) {
      const Way other = way_of(host, nic_at(each));
      if (i > 0) return std::ranges::find(other, way[i]) != other.end();
      return !other.empty() && slot_of(other[0]->address) == slot_of(way[0]->address);
    });
    if (sum.exceeds(carried_at(host, way[i]->address))) return true;
  }
  const Sharing beside = sharing([&](int each) { return next_gpus(host, each).by_pcie == gpus; });
  double carried = 0;
  for (const int gpu : gpus)
    carried += carried_at(host, topology::pci_address_of(host, gpu_at(gpu)).value_or(""));
  return beside.ports > gpus.size() && beside.exceeds(carried);
}

double gpu_path(const topology::Host& host, int ranks) {
  double slowest = 0;
  double fastest = 0;
  for (int i = 0; i < ranks; ++i) {
    const auto& address = host.gpus[static_cast<std::size_t>(i)].pci_address;
    const double rate = pcie_rate_at(host, address.value_or(""));
    slowest = lower_known(slowest, rate);
    fastest = std::max(fastest, rate);
  }
  return ranks < static_cast<int>(host.gpus.size()) ? slowest : fastest;
}

}  // namespace collbench::analysis
