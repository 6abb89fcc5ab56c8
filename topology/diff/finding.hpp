#pragma once
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "topology/graph/topology.hpp"

namespace collbench::topology {

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

/// One difference of two hosts.
struct Finding {
  std::string_view code;            ///< of the catalog (topology/catalog/finding_kinds.hpp)
  Side side = Side::b;              ///< the host that is worse off; b where neither is
  std::vector<DevicePair> devices;  ///< the devices it is about; empty: the machine itself
  std::string device;               ///< them in words: "GPU0 (0000:17:00.0)"
  std::string what;                 ///< "1 NVLink to GPU1 instead of 12"

  bool operator==(const Finding&) const = default;
};

/// Two hosts and which of their devices correspond. The hosts outlive it.
struct HostPair {
  const Host& a;
  const Host& b;
  DeviceMatch match;
  bool a_is_reference = false;  ///< a is a machine type: what it lacks is not missing
  std::string other_gpus = {};  ///< why the GPUs cannot be compared: "8 × V100 SXM instead of …"; else empty
  std::string other_nics = {};  ///< the same of the NICs

  [[nodiscard]] const Host& of(Side side) const { return side == Side::a ? a : b; }
};

/// Collects findings; the same one of several devices becomes one that names them all.
class FindingList {
 public:
  explicit FindingList(const HostPair& pair) : pair_(pair) {}

  /// About devices; the words of `what` are put behind their names.
  void add(std::string_view code, Side side, std::vector<DevicePair> devices, std::string what);

  /// About something that is no device: the machine, or a bridge. `devices`: those that it
  /// touches.
  void add_named(std::string_view code, Side side, std::string device, std::vector<DevicePair> devices,
                 std::string what);

  /// The worst first, else as they were added.
  [[nodiscard]] std::vector<Finding> take();

 private:
  const HostPair& pair_;
  std::vector<Finding> findings_;
};

/// "GPU3 (0000:9b:00.0)".
[[nodiscard]] std::string finding_device(const Host& host, const Device& device);

/// "GPU0, GPU1 and GPU2", each as finding_device, on the side where the slot is taken, `side` first.
[[nodiscard]] std::string finding_devices(const HostPair& pair, Side side,
                                          const std::vector<DevicePair>& devices);

/// "a", "a and b", "a, b and c".
[[nodiscard]] std::string join_words(const std::vector<std::string>& words);

/// The same of at most `most` words; of more, "a, b, c and 12 more".
[[nodiscard]] std::string join_words(const std::vector<std::string>& words, std::size_t most);

}  // namespace collbench::topology
