#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>

#include "topology/graph/topology.hpp"

namespace collbench::topology {

/// What the kernel shows of a function's config space without root; with it 256 bytes (PCI) or 4096 (PCIe).
inline constexpr std::size_t kConfigBytesWithoutRoot = 64;

/// Whether Access Control Services take peers' requests up to the host, by the function's config space as in
/// /sys/bus/pci/devices/ADDRESS/config; none without that capability, or where too few bytes are there to
/// see.
[[nodiscard]] std::optional<bool> acs_of_config(std::span<const std::uint8_t> config);

/// GPUs, NICs and NVSwitches below ROOT/bus/pci/devices, with the bridges above them and their PCIe links.
/// `root` is /sys or a copy. What is hidden is said in the notes; never throws for it.
[[nodiscard]] Host read_sysfs_pci(const std::filesystem::path& root);

}  // namespace collbench::topology
