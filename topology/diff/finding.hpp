#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "topology/catalog/finding_kinds.hpp"
#include "topology/diff/device_match.hpp"
#include "topology/graph/topology.hpp"

namespace collbench::topology {

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

}  // namespace collbench::topology
