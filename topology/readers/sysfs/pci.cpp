#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <vector>

#include "base/text_input.hpp"
#include "base/units.hpp"
#include "topology/graph/lookup.hpp"
#include "topology/graph/pci.hpp"
#include "topology/readers/readers.hpp"
#include "topology/readers/sysfs/sysfs.hpp"

namespace collbench::topology {
namespace {

// PCI Express Base Specification 4.0, 7.6.2 (the list of extended capabilities: id in bits 0 to 15, the next
// one's offset in bits 20 to 31) and 7.7.8 (Access Control Services: the control register at offset 6); the
// same numbers in linux/pci_regs.h.
constexpr std::size_t kFirstCapability = 0x100;
constexpr std::uint32_t kAcsId = 0x000D;
constexpr std::size_t kAcsControl = 6;
// Source validation, request and completion redirect, upstream forwarding: SrcValid, ReqRedir, CmpltRedir and
// UpstreamFwd of lspci.
constexpr unsigned kTakesUp = 0x01U | 0x04U | 0x08U | 0x10U;

/// Little-endian.
std::uint32_t read_32(std::span<const std::uint8_t> config, std::size_t offset) {
  std::uint32_t value = 0;
  for (std::size_t i = 4; i > 0; --i) value = value << 8U | config[offset + i - 1];
  return value;
}

namespace fs = std::filesystem;

/// "32.0 GT/s PCIe" and "16"; width 0 and "Unknown" mean not known.
PcieLink read_link(const fs::path& folder, const char* speed, const char* width) {
  PcieLink link;
  const auto rate = leading_number(sysfs_text(folder / speed).value_or(""));
  if (rate.value_or(0) > 0) link.gigatransfers_per_second.value = rate;
  const auto lanes = sysfs_integer(folder / width);
  if (lanes.value_or(0) > 0 && *lanes <= 64) link.width.value = lanes;
  return link;
}

PciDevice read_device(const fs::path& folder, const std::string& address, const std::string& parent) {
  PciDevice device;
  device.address = address;
  device.parent = parent;
  if (parent.empty()) device.host_bridge.value = sysfs_host_bridge(folder);
  const auto numa = sysfs_integer(folder / "numa_node");
  if (parent.empty() && numa.value_or(-1) >= 0)
    device.numa_node.value = numa;  // -1: the firmware does not say
  device.class_code.value = sysfs_text(folder / "class");
  device.vendor.value = sysfs_text(folder / "vendor");
  device.device.value = sysfs_text(folder / "device");
  device.subsystem_vendor.value = sysfs_text(folder / "subsystem_vendor");
  device.subsystem_device.value = sysfs_text(folder / "subsystem_device");
  device.link_now = read_link(folder, "current_link_speed", "current_link_width");
  device.link_max = read_link(folder, "max_link_speed", "max_link_width");
  return device;
}

/// The lesser of two facts that are known, else the known one.
template <class T>
void lower_to(Fact<T>& fact, const Fact<T>& other) {
  if (other.known() && (!fact.known() || *other.value < *fact.value)) fact = other;
}

/// A device knows what it could do; the link can do what both ends can.
void limit_by_parents(Host& host) {
  const std::vector<PciDevice> as_read = host.pci_devices;
  for (PciDevice& device : host.pci_devices) {
    const auto parent = std::ranges::find(as_read, device.parent, &PciDevice::address);
    if (parent == as_read.end() || !device.link_max.width.known()) continue;
    lower_to(device.link_max.gigatransfers_per_second, parent->link_max.gigatransfers_per_second);
    lower_to(device.link_max.width, parent->link_max.width);
  }
}

/// The start of a function's config space, as much as the kernel shows.
std::vector<std::uint8_t> read_config(const fs::path& folder) {
  constexpr std::streamsize kMaxConfig = 4096;
  std::vector<std::uint8_t> config(kMaxConfig);
  std::ifstream in(folder / "config", std::ios::binary);
  in.read(reinterpret_cast<char*>(config.data()), kMaxConfig);
  config.resize(static_cast<std::size_t>(std::max<std::streamsize>(in.gcount(), 0)));
  return config;
}

/// ACS of the bridges, and a note where it takes root to see it.
void read_acs(const fs::path& devices, Host& host) {
  int hidden = 0;
  for (PciDevice& device : host.pci_devices) {
    if (pci_role(device.class_code.value_or(""), device.vendor.value_or("")) != PciRole::bridge) continue;
    const std::vector<std::uint8_t> config = read_config(devices / device.address);
    device.acs.value = acs_of_config(config);
    hidden += config.size() == kConfigBytesWithoutRoot ? 1 : 0;
  }
  if (hidden > 0 && !host.gpus.empty())
    host.notes.emplace_back(
        fmt::format("ACS of {} is unknown: reading it needs root (or give lspci -vvv, run as root)",
                    counted(hidden, "PCI bridge")));
}

void add_with_bridges(const fs::path& devices, const std::string& address, Host& host) {
  std::string parent;
  std::vector<std::string> way = sysfs_pci_way(devices / address);
  // A copy of /sys without links shows no way: then the function stands alone.
  if (way.empty() || way.back() != address) way = {address};
  for (const std::string& step : way) {
    if (find_pci_device(host, step) == nullptr)
      host.pci_devices.push_back(read_device(devices / step, step, parent));
    parent = step;
  }
}

bool has_pci_devices(const fs::path& root) { return fs::exists(root / "bus/pci/devices"); }

}  // namespace

std::optional<bool> acs_of_config(std::span<const std::uint8_t> config) {
  std::size_t offset = kFirstCapability;
  // A damaged list may lead back to itself: no more steps than capabilities fit.
  for (std::size_t steps = config.size() / 8; steps > 0; --steps) {
    if (offset < kFirstCapability || offset + 8 > config.size()) return std::nullopt;
    const std::uint32_t header = read_32(config, offset);
    if ((header & 0xFFFFU) == kAcsId) return (config[offset + kAcsControl] & kTakesUp) != 0;
    offset = header >> 20U & 0xFFCU;
  }
  return std::nullopt;
}

Host read_sysfs_pci(const fs::path& root) {
  const fs::path devices = root / "bus/pci/devices";
  Host host;
  host.sources.push_back(kSysfsPciReader.source(devices.string()));
  const std::vector<std::string> names = sysfs_names(devices);
  if (names.empty())
    host.notes.emplace_back(
        fmt::format("{} is hidden or empty: no PCI tree; run outside the container", devices.string()));
  for (const std::string& name : names) {
    const auto address = canonical_pci_address(name);
    if (!address) continue;
    const PciRole role = pci_role(sysfs_text(devices / name / "class").value_or(""),
                                  sysfs_text(devices / name / "vendor").value_or(""));
    if (role == PciRole::bridge || role == PciRole::other) continue;
    add_with_bridges(devices, *address, host);
    if (role == PciRole::nvswitch) host.nvswitches.emplace_back().pci_address.value = address;
    if (role == PciRole::gpu) {
      Gpu& gpu = host.gpus.emplace_back();
      gpu.pci_address.value = address;
      gpu.cpu_affinity.value = sysfs_text(devices / name / "local_cpulist");
    }
    if (role == PciRole::nic) {
      Nic& nic = host.nics.emplace_back();
      nic.pci_address.value = address;
      nic.driver.value = sysfs_link_name(devices / name / "driver");
      nic.cpu_affinity.value = sysfs_text(devices / name / "local_cpulist");
    }
  }
  limit_by_parents(host);
  read_acs(devices, host);
  if (!host.gpus.empty()) {
    const bool loaded = fs::exists(root / "module/nvidia_peermem");
    if (fs::exists(root / "module")) host.peer_memory.value = loaded ? "nvidia_peermem" : "none";
  }
  return host;
}

constexpr TopologyReader kSysfsPciReader{
    .name = "sysfs PCI",
    .coverage = {.gpus = true, .nics = true, .nvswitches = true},
    .recognizes_tree = has_pci_devices,
    .read_tree = read_sysfs_pci,
};

}  // namespace collbench::topology
