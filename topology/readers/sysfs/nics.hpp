#pragma once
#include <filesystem>

#include "topology/graph/topology.hpp"

namespace collbench::topology {

/// RDMA devices below ROOT/class/infiniband: ports with link layer, rate and state, GUID, firmware, and the
/// kernel interfaces that belong to them. `root` is /sys or a copy. What is hidden is said in the notes.
[[nodiscard]] Host read_sysfs_infiniband(const std::filesystem::path& root);

/// Network interfaces below ROOT/class/net that have a PCI function: MTU, speed and state. Loopback, bridges
/// and other interfaces without hardware are left out. `root` is /sys or a copy.
[[nodiscard]] Host read_sysfs_net(const std::filesystem::path& root);

}  // namespace collbench::topology
