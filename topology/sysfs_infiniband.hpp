#pragma once
#include <filesystem>

#include "topology/topology.hpp"

namespace collbench {

/// RDMA devices below ROOT/class/infiniband: ports with link layer, rate and state, GUID, firmware, and the
/// kernel interfaces that belong to them. `root` is /sys or a copy. What is hidden is said in the notes.
[[nodiscard]] Host read_sysfs_infiniband(const std::filesystem::path& root);

}  // namespace collbench
