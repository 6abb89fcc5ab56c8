#include "topology/machines/reference_machines.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "base/units.hpp"
#include "topology/catalog/gpus.hpp"
#include "topology/graph/lookup.hpp"
#include "topology/graph/path.hpp"
#include "topology/graph/port_state.hpp"

namespace collbench::topology {
namespace {

// A difference in what decides most weighs most. The weights only order machines.
constexpr int kOtherArchitecture = 20;
constexpr int kOtherModel = 8;
constexpr int kOtherGpuCount = 6;
constexpr int kOtherNvlinks = 6;
constexpr int kNoNvlinks = 20;  // as much as another architecture: a box of PCIe cards is no NVLink machine
constexpr int kUnevenNvlinks = 1;
constexpr int kOtherNicCount = 3;  // and as much again the further the counts are apart
constexpr int kOtherNicRate = 3;
constexpr int kOtherLinkLayer = 1;

/// The NICs of the most common kind among the fast ones: those of the fabric, and not of storage.
struct FabricNics {
  std::size_t slots = 0;   ///< of the kind, also with a port that is down or slow
  std::size_t in_use = 0;  ///< of these the fast ones whose port may be up
  std::optional<double> gigabits;
  std::string link_layer;
};

/// What is compared. NICs below 100 Gb/s are management, not fabric.
struct ComparedFacts {
  std::string model;
  std::optional<int> sm;
  std::size_t gpus = 0;
  std::size_t nvlinks = 0;
  std::size_t fewest_nvlinks = 0;  ///< of a GPU
  bool nvlinks_known = false;
  std::size_t nics = 0;
  FabricNics fabric;
  std::optional<double> nic_gigabits;
  std::string link_layer;
};

constexpr double kFabricGigabits = 100;

const NicPort* first_port(const Nic& nic) { return nic.ports.empty() ? nullptr : &nic.ports.front(); }

bool is_fast(const Nic& nic) {
  const NicPort* port = first_port(nic);
  return port == nullptr || port->gigabits_per_second.value_or(kFabricGigabits) >= kFabricGigabits;
}

/// What kind of NIC it is, by its PCI function: "0x15b3 0x1021"; empty where nobody says.
std::string kind_of(const Host& host, const Nic& nic) {
  const PciDevice* pci = find_pci_device(host, nic.pci_address.value_or(""));
  return pci == nullptr || !pci->device.known() ? ""
                                                : pci->vendor.value_or("") + " " + pci->device.value_or("");
}

std::string link_layer_of(const Nic& nic) {
  const NicPort* port = first_port(nic);
  return port == nullptr ? "" : port->link_layer.value_or("");
}

/// By PCI kind and link layer. Of the kind are all with its PCI function or, where nobody says that, with its
/// link layer that are fast or not up: a port that is down or has lost lanes shows a lower rate.
FabricNics fabric_nics(const Host& host) {
  std::map<std::pair<std::string, std::string>, std::size_t> kinds;
  for (const Nic& nic : host.nics)
    if (is_fast(nic)) ++kinds[{kind_of(host, nic), link_layer_of(nic)}];
  FabricNics fabric;
  if (kinds.empty()) return fabric;
  const auto [kind, layer] = std::ranges::max_element(kinds, [](const auto& one, const auto& other) {
                               return one.second < other.second;
                             })->first;
  fabric.link_layer = layer;
  for (const Nic& nic : host.nics) {
    const NicPort* port = first_port(nic);
    const bool is_up = port == nullptr || may_carry_traffic(*port);
    const bool is_of_kind =
        kind.empty() ? link_layer_of(nic) == layer && (is_fast(nic) || !is_up) : kind_of(host, nic) == kind;
    if (!is_of_kind) continue;
    ++fabric.slots;
    if (!is_fast(nic)) continue;
    fabric.in_use += is_up ? 1 : 0;
    if (port != nullptr && port->gigabits_per_second.known())
      fabric.gigabits = std::max(fabric.gigabits.value_or(0), *port->gigabits_per_second.value);
  }
  return fabric;
}

ComparedFacts compared_facts(const Host& host) {
  ComparedFacts facts;
  const GpuModel* model = find_gpu_model(host, host.gpus.front());
  facts.model = model != nullptr ? std::string(model->name) : host.gpus.front().model.value_or("");
  facts.sm = sm_of(host, host.gpus.front());
  facts.gpus = host.gpus.size();
  // Links that are listed as inactive are not counted: down, or by design (12 of 18 on H100 NVL).
  const Gpu& first = host.gpus.front();
  for (int gpu = 0; gpu < static_cast<int>(host.gpus.size()); ++gpu) {
    const auto links = static_cast<std::size_t>(nvlinks_of(host, {DeviceKind::gpu, gpu}));
    facts.fewest_nvlinks = gpu == 0 ? links : std::min(facts.fewest_nvlinks, links);
    facts.nvlinks = std::max(facts.nvlinks, links);
  }
  // Files of providers and of PCI alone say nothing of NVLink: 0 there is not "none". Nor is it where
  // nvidia-smi says that all are inactive, without a number.
  const bool all_inactive = first.nvlink_state.known() && facts.nvlinks == 0;
  facts.nvlinks_known =
      !all_inactive && (first.nvlinks_active.known() || !host.nvlinks.empty() || !host.stated_paths.empty());
  for (const Nic& nic : host.nics) {
    const NicPort* port = first_port(nic);
    const auto rate = port != nullptr ? port->gigabits_per_second.value : std::nullopt;
    if (!is_fast(nic)) continue;
    ++facts.nics;
    if (rate) facts.nic_gigabits = std::max(facts.nic_gigabits.value_or(0), *rate);
    if (port != nullptr && facts.link_layer.empty()) facts.link_layer = port->link_layer.value_or("");
  }
  facts.fabric = fabric_nics(host);
  return facts;
}

/// A match in which it is known what is compared, and nothing yet that differs.
ReferenceMatch nothing_differs(const ComparedFacts& facts, const ComparedFacts& reference,
                               const ReferenceMachine& machine) {
  ReferenceMatch match{&machine, 0, {}, {"number of GPUs"}, {}};
  const auto add = [&match](bool known, const char* name) {
    (known ? match.compared : match.not_compared).emplace_back(name);
  };
  add(!facts.model.empty() || facts.sm, "GPU model");
  add(facts.nvlinks_known, "NVLinks");
  add(facts.nics > 0, "number of NICs");
  if (facts.nics > 0 && reference.nic_gigabits) add(facts.nic_gigabits.has_value(), "rate of NICs");
  if (!facts.link_layer.empty() && !reference.link_layer.empty()) add(true, "link layer of NICs");
  return match;
}

ReferenceMatch compare(const ComparedFacts& facts, const ReferenceMachine& machine) {
  const ComparedFacts reference = compared_facts(reference_host(machine));
  ReferenceMatch match = nothing_differs(facts, reference, machine);
  const auto differ = [&match](int weight, std::string words) {
    match.distance += weight;
    match.differences.push_back(std::move(words));
  };
  if (!facts.model.empty() && facts.model != reference.model) {
    const bool related = facts.sm.has_value() && facts.sm == reference.sm;
    differ(related ? kOtherModel : kOtherArchitecture,
           fmt::format("GPU {} instead of {}", facts.model, reference.model));
  } else if (facts.model.empty() && facts.sm && facts.sm != reference.sm) {
    differ(kOtherArchitecture, fmt::format("sm {} instead of {}", *facts.sm, reference.sm.value_or(0)));
  }
  if (facts.gpus != reference.gpus) {
    differ(kOtherGpuCount, fmt::format("{} instead of {}", counted(facts.gpus, "GPU"), reference.gpus));
  }
  if (facts.nvlinks_known && facts.nvlinks != reference.nvlinks) {
    differ(std::min(facts.nvlinks, reference.nvlinks) == 0 ? kNoNvlinks : kOtherNvlinks,
           fmt::format("{} per GPU instead of {}", counted(facts.nvlinks, "NVLink"), reference.nvlinks));
  }
  if (facts.nvlinks_known && facts.fewest_nvlinks < facts.nvlinks)
    differ(kUnevenNvlinks, fmt::format("a GPU has {}", counted(facts.fewest_nvlinks, "NVLink")));
  if (facts.nics > 0 && facts.nics != reference.nics) {
    const auto [fewer, more] = std::minmax(facts.nics, reference.nics);
    const double apart = 1 - static_cast<double>(fewer) / static_cast<double>(more);
    differ(kOtherNicCount + static_cast<int>(std::lround(kOtherNicCount * apart)),
           fmt::format("{} instead of {}", counted(facts.nics, "fast NIC"), reference.nics));
  }
  if (facts.nic_gigabits && reference.nic_gigabits && facts.nic_gigabits != reference.nic_gigabits) {
    differ(kOtherNicRate,
           fmt::format("NICs of {} Gb/s instead of {}", *facts.nic_gigabits, *reference.nic_gigabits));
  }
  if (!facts.link_layer.empty() && !reference.link_layer.empty() &&
      facts.link_layer != reference.link_layer) {
    differ(kOtherLinkLayer, fmt::format("{} instead of {}", facts.link_layer, reference.link_layer));
  }
  match.same_gpus = facts.model == reference.model && facts.gpus == reference.gpus &&
                    (!facts.nvlinks_known || facts.nvlinks <= reference.nvlinks);
  const FabricNics& fabric = facts.fabric;
  // The fast ones of all kinds, too: one in another mode than the others is no other machine.
  const bool as_many =
      fabric.slots == reference.nics || fabric.in_use == reference.nics || facts.nics == reference.nics;
  match.same_nics = as_many && fabric.gigabits == reference.nic_gigabits;
  match.same_link_layer = fabric.link_layer.empty() || fabric.link_layer == reference.link_layer;
  return match;
}

}  // namespace

std::vector<ReferenceMatch> nearest_references(const Host& host) {
  std::vector<ReferenceMatch> matches;
  if (host.gpus.empty()) return matches;
  const ComparedFacts facts = compared_facts(host);
  for (const ReferenceMachine& machine : reference_machines()) matches.push_back(compare(facts, machine));
  // Among equals the order of the table.
  std::ranges::sort(matches, [](const ReferenceMatch& a, const ReferenceMatch& b) {
    return a.distance != b.distance ? a.distance < b.distance : a.machine < b.machine;
  });
  return matches;
}

}  // namespace collbench::topology
