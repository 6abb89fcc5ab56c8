#include "topology/sysfs_net.hpp"

#include <fmt/format.h>

#include "topology/sysfs.hpp"

namespace collbench {

namespace {

constexpr int kInfinibandType = 32;  // ARPHRD_INFINIBAND, linux/if_arp.h

void read_ethernet(const std::filesystem::path& folder, NicPort& port) {
  port.mtu_bytes.value = sysfs_integer(folder / "mtu");
  const auto megabits = sysfs_integer(folder / "speed");  // -1 while the link is down
  if (megabits.value_or(0) > 0) port.gigabits_per_second.value = *megabits / 1000.0;
  if (const auto state = sysfs_text(folder / "operstate"); state && *state != "unknown") {
    port.state.value = *state == "up" ? "ACTIVE" : "DOWN";
  }
}

}  // namespace

Host read_sysfs_net(const std::filesystem::path& root) {
  const std::filesystem::path interfaces = root / "class/net";
  Host host;
  host.sources.push_back({"sysfs net", interfaces.string(), ""});
  const std::vector<std::string> names = sysfs_names(interfaces);
  if (names.empty()) host.notes.push_back(fmt::format("{} is hidden or empty", interfaces.string()));
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

}  // namespace collbench
