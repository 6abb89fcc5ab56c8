#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "topology/graph/topology.hpp"

namespace collbench::topology {

/// Which of two hosts.
enum class Side { a, b };

[[nodiscard]] constexpr Side other(Side side) { return side == Side::a ? Side::b : Side::a; }

/// Devices of two hosts at the same slot; none on the side where the slot is empty.
struct DevicePair {
  std::optional<Device> a;
  std::optional<Device> b;

  [[nodiscard]] const std::optional<Device>& of(Side side) const { return side == Side::a ? a : b; }
  bool operator==(const DevicePair&) const = default;
};

/// Which devices of two hosts have the same slot.
struct DeviceMatch {
  std::vector<DevicePair> gpus;
  std::vector<DevicePair> nics;
  std::vector<DevicePair> nvswitches;
  std::vector<DevicePair> numa_nodes;
  std::map<std::string, std::string> bridges;  ///< address in a → in b, of the bridges above paired devices

  /// The counterpart in b of a device of a; none where its slot is empty.
  [[nodiscard]] std::optional<Device> in_b(const Device& of_a) const;
};

/// Matches the devices by where they sit: how near they are to each other (PCIe switch, NUMA node, NVLink),
/// and what they are. Among equals the PCI address decides where the two machines share most of them, a name
/// or UUID where no address is known, and then the order: of a row of twins with one taken away, the others
/// keep their order. The order of listing never decides where addresses are known. The search for the least
/// disagreement is bounded, so two machines that have little in common are matched quickly and perhaps not
/// best. Where `a` is a reference machine, devices that are closer in `b` disagree little: boards of one type
/// share their PCIe switches in different ways.
[[nodiscard]] DeviceMatch match_devices(const Host& a, const Host& b, bool a_is_reference = false);

}  // namespace collbench::topology
