// diff_pcie() of parts.hpp: the links of GPUs, NICs and the bridges above them, and what they are.
#include <algorithm>
#include <map>

#include "topology/diff/parts.hpp"
#include "topology/graph/lookup.hpp"

namespace collbench::topology {
namespace {

/// A function on both hosts: what it is called, and the devices that it serves.
struct PciPair {
  const PciDevice& a;
  const PciDevice& b;
  std::vector<DevicePair> devices;
  std::string bridge;  ///< "PCIe switch 0000:16:00.0"; empty for the endpoint itself
  bool nic = false;

  [[nodiscard]] const PciDevice& of(Side side) const { return side == Side::a ? a : b; }
};

class PcieDiff {
 public:
  PcieDiff(const HostPair& pair, FindingList& findings) : pair_(pair), findings_(findings) {}

  void compare(const PciPair& pci) {
    for (const Side side : {Side::a, Side::b}) {
      // One that is not real is a finding of its own (diff_virtual_bridges).
      if (pci.bridge.empty() || !is_virtual_bridge(pair_.of(side), pci.of(side))) {
        if (!is_of_a_virtual_bridge(pci.of(side), side, &PcieLink::width)) check_width(pci, side);
        if (!is_of_a_virtual_bridge(pci.of(side), side, &PcieLink::gigatransfers_per_second))
          check_rate(pci, side);
      }
      check_acs(pci, side);
    }
    if (!pair_.a_is_reference) compare_parts(pci);  // a machine type names no parts
  }

 private:
  void add(std::string_view code, Side side, const PciPair& pci, std::string what) {
    if (pci.bridge.empty()) {
      findings_.add(code, side, pci.devices, std::move(what));
    } else {
      findings_.add_named(code, side, pci.bridge, pci.devices, std::move(what));
    }
  }

  /// What the port above the device allows; 0 where it is not known.
  template <class T>
  [[nodiscard]] T allowed_above(const PciDevice& device, Side side, Fact<T> PcieLink::* fact) const {
    const PciDevice* above = find_pci_device(pair_.of(side), device.parent);
    return above == nullptr ? T{} : (above->link_max.*fact).value_or(T{});
  }

  /// What both ends could do; 0 where one is not known.
  template <class T>
  [[nodiscard]] T allowed(const PciDevice& device, Side side, Fact<T> PcieLink::* fact) const {
    const T above = allowed_above(device, side, fact);
    const T own = (device.link_max.*fact).value_or(T{});
    return above > T{} ? std::min(own, above) : own;
  }

  /// Whether the fact is no more than a bridge above allows that is not real.
  template <class T>
  [[nodiscard]] bool is_of_a_virtual_bridge(const PciDevice& device, Side side,
                                            Fact<T> PcieLink::* fact) const {
    const PciDevice* above = find_pci_device(pair_.of(side), device.parent);
    return above != nullptr && is_virtual_bridge(pair_.of(side), *above) && (above->link_max.*fact).known() &&
           (device.link_max.*fact).value == (above->link_max.*fact).value;
  }

  static int width_of(const PciDevice& device) {
    const int now = device.link_now.width.value_or(0);
    return now > 0 ? now : device.link_max.width.value_or(0);
  }

  void check_width(const PciPair& pci, Side side) {
    const int mine = width_of(pci.of(side));
    const int expected =
        std::max(allowed(pci.of(side), side, &PcieLink::width), width_of(pci.of(other(side))));
    if (mine > 0 && mine < expected)
      add("pcie-narrow", side, pci, fmt::format("PCIe x{} instead of x{}", mine, expected));
  }

  /// The rate now is that of an idle link, but for NICs, which do not slow down.
  void check_rate(const PciPair& pci, Side side) {
    const PcieLink& mine = pci.of(side).link_max;
    const PcieLink& theirs = pci.of(other(side)).link_max;
    const double now = pci.of(side).link_now.gigatransfers_per_second.value_or(0);
    const double could = allowed(pci.of(side), side, &PcieLink::gigatransfers_per_second);
    if (lesser(mine.gigatransfers_per_second, theirs.gigatransfers_per_second) == Side::a) {
      add("pcie-slow", side, pci,
          fmt::format("PCIe {} GT/s instead of {}", *mine.gigatransfers_per_second.value,
                      *theirs.gigatransfers_per_second.value));
    } else if (lesser(mine.gigabytes_per_second, theirs.gigabytes_per_second) == Side::a) {
      add("pcie-slow", side, pci,
          fmt::format("PCIe {} GB/s instead of {}", *mine.gigabytes_per_second.value,
                      *theirs.gigabytes_per_second.value));
    } else if (pci.nic && pci.bridge.empty() && now > 0 && now < could) {
      add("pcie-slow", side, pci, fmt::format("PCIe {} GT/s, but both ends allow {}", now, could));
    }
  }

  void check_acs(const PciPair& pci, Side side) {
    if (pci.bridge.empty() || !pci.of(side).acs.value_or(false)) return;
    const Fact<bool>& theirs = pci.of(other(side)).acs;
    if (theirs.known() ? *theirs.value : !pair_.a_is_reference) return;
    add("acs-on", side, pci, "ACS redirects requests to the host");
  }

  void compare_parts(const PciPair& pci) {
    std::vector<std::string> words;
    const auto look = [&](const Fact<std::string>& a, const Fact<std::string>& b, std::string_view name) {
      if (lesser(a, b)) words.push_back(fmt::format("{} {}", name, instead(Side::b, a, b, "")));
    };
    look(pci.a.class_code, pci.b.class_code, "class");
    look(pci.a.vendor, pci.b.vendor, "vendor");
    look(pci.a.device, pci.b.device, "device");
    if (!words.empty()) {
      add("pci-model", Side::b, pci, "PCI " + join_words(words));
      return;
    }
    look(pci.a.subsystem_vendor, pci.b.subsystem_vendor, "subsystem vendor");
    look(pci.a.subsystem_device, pci.b.subsystem_device, "subsystem device");
    if (!words.empty()) add("pci-subsystem", Side::b, pci, "PCI " + join_words(words));
  }

  const HostPair& pair_;
  FindingList& findings_;
};

std::vector<DevicePair> pairs_below(const HostPair& pair, const std::string& bridge) {
  std::vector<DevicePair> below;
  for (const DevicePair& devices : gpus_and_nics_on_both(pair.match)) {
    for (const PciDevice* step : way_to_root(pair.a, *devices.a)) {
      if (step->address == bridge) below.push_back(devices);
    }
  }
  return below;
}

std::vector<const PciDevice*> virtual_bridges_above(const Host& host, const Device& device) {
  std::vector<const PciDevice*> bridges = way_to_root(host, device);
  std::erase_if(bridges, [&host](const PciDevice* step) { return !is_virtual_bridge(host, *step); });
  return bridges;
}

/// Bridges that a hypervisor made up above devices whose counterparts have none, wherever they stand: above
/// real switches, in their place, or above the device alone. Those with one link are one finding.
void diff_virtual_bridges(const HostPair& pair, Side side, FindingList& findings) {
  struct Found {
    std::vector<std::string> bridges;
    std::vector<DevicePair> below;
  };
  std::map<std::string, Found> by_link;
  for (const DevicePair& devices : gpus_and_nics_on_both(pair.match)) {
    if (!virtual_bridges_above(pair.of(other(side)), *devices.of(other(side))).empty()) continue;
    for (const PciDevice* bridge : virtual_bridges_above(pair.of(side), *devices.of(side))) {
      Found& found = by_link[virtual_link_text(*bridge)];
      if (std::ranges::find(found.bridges, bridge->address) == found.bridges.end())
        found.bridges.push_back(bridge->address);
      if (std::ranges::find(found.below, devices) == found.below.end()) found.below.push_back(devices);
    }
  }
  for (const auto& [link, found] : by_link) {
    findings.add_named(
        "virtual-bridge", side,
        (found.bridges.size() == 1 ? "PCIe bridge " : "PCIe bridges ") + join_words(found.bridges),
        found.below, link);
  }
}

}  // namespace

void diff_pcie(const HostPair& pair, FindingList& findings) {
  PcieDiff diff(pair, findings);
  std::string before;  // two NICs may be ports of one function
  for (const DevicePair& devices : gpus_and_nics_on_both(pair.match)) {
    const PciDevice* a = find_pci_device(pair.a, *devices.a);
    const PciDevice* b = find_pci_device(pair.b, *devices.b);
    if (a == nullptr || b == nullptr || a->address == before) continue;
    before = a->address;
    diff.compare({*a, *b, {devices}, {}, devices.a->kind == DeviceKind::nic});
  }
  for (const auto& [in_a, in_b] : pair.match.bridges) {
    const PciDevice* a = find_pci_device(pair.a, in_a);
    const PciDevice* b = find_pci_device(pair.b, in_b);
    if (a != nullptr && b != nullptr) diff.compare({*a, *b, pairs_below(pair, in_a), "PCIe bridge " + in_b});
  }
  for (const Side side : {Side::a, Side::b}) diff_virtual_bridges(pair, side, findings);
}

}  // namespace collbench::topology
