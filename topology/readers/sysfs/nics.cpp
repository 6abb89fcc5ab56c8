#include <fmt/format.h>

#include "base/text_input.hpp"
#include "topology/graph/nics.hpp"
#include "topology/readers/readers.hpp"
#include "topology/readers/sysfs/sysfs.hpp"

namespace collbench::topology {
namespace {

namespace fs = std::filesystem;

/// "4: ACTIVE" to "ACTIVE".
std::optional<std::string> after_number(const std::optional<std::string>& text) {
  if (!text) return std::nullopt;
  const std::size_t colon = text->find(": ");
  return colon == std::string::npos ? *text : text->substr(colon + 2);
}

NicPort read_port(const fs::path& folder, int number) {
  NicPort port;
  port.number = number;
  port.link_layer.value = sysfs_text(folder / "link_layer");
  port.gigabits_per_second.value = leading_number(sysfs_text(folder / "rate").value_or(""));
  port.state.value = after_number(sysfs_text(folder / "state"));
  port.physical_state.value = after_number(sysfs_text(folder / "phys_state"));
  port.gid.value = sysfs_text(folder / "gids/0");
  return port;
}

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ",") + name;
  return text;
}

constexpr int kInfinibandType = 32;  // ARPHRD_INFINIBAND, linux/if_arp.h

void read_ethernet(const fs::path& folder, NicPort& port) {
  port.mtu_bytes.value = sysfs_integer(folder / "mtu");
  const auto megabits = sysfs_integer(folder / "speed");  // -1 while the link is down
  if (megabits.value_or(0) > 0) port.gigabits_per_second.value = *megabits / 1000.0;
  if (const auto state = sysfs_text(folder / "operstate"); state && *state != "unknown") {
    port.state.value = *state == "up" ? "ACTIVE" : "DOWN";
  }
}

bool has_infiniband(const fs::path& root) { return fs::exists(root / "class/infiniband"); }
bool has_net(const fs::path& root) { return fs::exists(root / "class/net"); }

}  // namespace

Host read_sysfs_infiniband(const fs::path& root) {
  const fs::path devices = root / "class/infiniband";
  Host host;
  host.sources.push_back(kSysfsInfinibandReader.source(devices.string()));
  const std::vector<std::string> names = sysfs_names(devices);
  if (names.empty()) {
    host.notes.emplace_back(fmt::format(
        "{} is hidden or empty: no RDMA device found; in a container, pass /dev/infiniband and /sys through",
        devices.string()));
  }
  for (const std::string& name : names) {
    const fs::path folder = devices / name;
    Nic nic;
    nic.name.value = name;
    nic.guid.value = canonical_guid(sysfs_text(folder / "node_guid").value_or(""));
    nic.system_guid.value = canonical_guid(sysfs_text(folder / "sys_image_guid").value_or(""));
    nic.board.value = sysfs_text(folder / "board_id");
    nic.firmware.value = sysfs_text(folder / "fw_ver");
    if (const auto way = sysfs_pci_way(folder / "device"); !way.empty()) nic.pci_address.value = way.back();
    if (const auto interfaces = sysfs_names(folder / "device/net"); !interfaces.empty()) {
      nic.interfaces.value = joined(interfaces);
    }
    const auto numa = sysfs_integer(folder / "device/numa_node");
    if (numa.value_or(-1) >= 0) nic.numa_node.value = numa;
    for (const std::string& port : sysfs_names(folder / "ports")) {
      const auto number = parse_integer(port, 0, 255);
      if (number) nic.ports.push_back(read_port(folder / "ports" / port, static_cast<int>(*number)));
    }
    host.nics.push_back(std::move(nic));
  }
  return host;
}

Host read_sysfs_net(const std::filesystem::path& root) {
  const std::filesystem::path interfaces = root / "class/net";
  Host host;
  host.sources.push_back(kSysfsNetReader.source(interfaces.string()));
  const std::vector<std::string> names = sysfs_names(interfaces);
  if (names.empty()) host.notes.emplace_back(fmt::format("{} is hidden or empty", interfaces.string()));
  for (const std::string& name : names) {
    const std::filesystem::path folder = interfaces / name;
    const std::vector<std::string> way = sysfs_pci_way(folder / "device");
    if (way.empty()) continue;
    Nic nic;
    NicPort port;
    nic.interfaces.value = name;
    nic.pci_address.value = way.back();
    const auto dev_port = sysfs_integer(folder / "dev_port");
    port.number = dev_port.value_or(0) >= 0 ? dev_port.value_or(0) + 1 : 1;
    const bool infiniband = sysfs_integer(folder / "type") == kInfinibandType;
    port.link_layer.value = infiniband ? "InfiniBand" : "Ethernet";
    if (!infiniband) read_ethernet(folder, port);  // MTU and state of IPoIB say nothing about the port
    nic.ports.push_back(port);
    host.nics.push_back(std::move(nic));
  }
  return host;
}

constexpr TopologyReader kSysfsInfinibandReader{
    .name = "sysfs InfiniBand",
    .coverage = {.gpus = false, .nics = true, .nvswitches = false},
    .recognizes_tree = has_infiniband,
    .read_tree = read_sysfs_infiniband,
};

constexpr TopologyReader kSysfsNetReader{
    .name = "sysfs net",
    .coverage = {.gpus = false, .nics = true, .nvswitches = false},
    .recognizes_tree = has_net,
    .read_tree = read_sysfs_net,
};

}  // namespace collbench::topology
