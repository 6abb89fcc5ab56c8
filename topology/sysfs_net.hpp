#pragma once
#include <filesystem>

#include "topology/topology.hpp"

namespace collbench {

/// Network interfaces below ROOT/class/net that have a PCI function: MTU, speed and state. Loopback, bridges
/// and other interfaces without hardware are left out. `root` is /sys or a copy.
[[nodiscard]] Host read_sysfs_net(const std::filesystem::path& root);

}  // namespace collbench
