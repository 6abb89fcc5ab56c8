#pragma once
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace collbench::topology {

/// Small reads below a root that is /sys, or a copy of it. None of these throws for what is hidden or gone:
/// in a container half of it is.

/// The first line of a file, trimmed; none when it cannot be read or is empty.
[[nodiscard]] std::optional<std::string> sysfs_text(const std::filesystem::path& file);

[[nodiscard]] std::optional<int> sysfs_integer(const std::filesystem::path& file);

/// Names in a folder, sorted, of printable ASCII; empty when it is not there.
[[nodiscard]] std::vector<std::string> sysfs_names(const std::filesystem::path& folder);

/// The addresses of the PCI functions on the way to a device, outermost first, by where its link leads:
/// ".../pci0000:00/0000:00:01.0/0000:01:00.0/net/eth0" gives two.
[[nodiscard]] std::vector<std::string> sysfs_pci_way(const std::filesystem::path& device);

/// The host bridge of the same way: "0000:00"; none when there is none in it.
[[nodiscard]] std::optional<std::string> sysfs_host_bridge(const std::filesystem::path& device);

/// Name of what a link leads to ("mlx5_core" for …/driver); none when there is no link.
[[nodiscard]] std::optional<std::string> sysfs_link_name(const std::filesystem::path& link);

/// What the kernel shows of a function's config space without root; with it 256 bytes (PCI) or 4096 (PCIe).
inline constexpr std::size_t kConfigBytesWithoutRoot = 64;

/// Whether Access Control Services take peers' requests up to the host, by the function's config space as in
/// /sys/bus/pci/devices/ADDRESS/config; none without that capability, or where too few bytes are there to
/// see.
[[nodiscard]] std::optional<bool> acs_of_config(std::span<const std::uint8_t> config);

}  // namespace collbench::topology
