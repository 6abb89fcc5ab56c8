#pragma once
#include <filesystem>

#include "topology/topology.hpp"

namespace collbench {

/// GPUs, NICs and NVSwitches below ROOT/bus/pci/devices, with the bridges above them and their PCIe links.
/// `root` is /sys or a copy. What is hidden is said in the notes; never throws for it.
[[nodiscard]] Host read_sysfs_pci(const std::filesystem::path& root);

}  // namespace collbench
