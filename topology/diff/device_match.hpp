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

/// Devices of two hosts at the same seat; none on the side where the seat is empty.
struct Twins {
  std::optional<Device> a;
  std::optional<Device> b;

  [[nodiscard]] const std::optional<Device>& of(Side side) const { return side == Side::a ? a : b; }
  bool operator==(const Twins&) const = default;
};

/// Which devices of two hosts have the same seat.
struct DeviceMatch {
  std::vector<Twins> gpus;
  std::vector<Twins> nics;
  std::vector<Twins> nvswitches;
  std::vector<Twins> numa_nodes;
  std::map<std::string, std::string> bridges;  ///< address in a → in b, of the bridges above twins

  /// The twin in b of a device of a; none where its seat is empty.
  [[nodiscard]] std::optional<Device> in_b(const Device& of_a) const;
};

/// Matches the devices by where they sit: how near they are to each other (PCIe switch, NUMA node, NVLink),
/// and what they are. Among equals the PCI address decides, and then the rank; names, indices, UUIDs and the
/// order of listing never do. The search for the least disagreement is bounded, so two machines that have
/// little in common are matched quickly and perhaps not best.
[[nodiscard]] DeviceMatch match_devices(const Host& a, const Host& b);

}  // namespace collbench::topology
