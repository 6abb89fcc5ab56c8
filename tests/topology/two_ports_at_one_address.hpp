#pragma once
#include <algorithm>
#include <string>

#include "topology/graph/topology.hpp"

namespace collbench::topology {

/// A GPU below a switch, beside a card whose two ports are two NICs at one address, the second one down.
inline Host two_ports_at_one_address(bool listed_backwards = false) {
  Host host;
  host.sources = {{"made up", "", ""}};
  host.numa_nodes.resize(1);
  const auto add_pci = [&host](const char* address, const char* parent, const char* class_code) {
    PciDevice& device = host.pci_devices.emplace_back();
    device.address = address;
    device.parent = parent;
    device.class_code.value = class_code;
  };
  add_pci("0000:01:00.0", "", "0x060400");
  add_pci("0000:02:00.0", "0000:01:00.0", "0x030200");
  add_pci("0000:03:00.0", "0000:01:00.0", "0x020700");
  host.gpus.emplace_back().pci_address.value = "0000:02:00.0";
  for (int port = 1; port <= 2; ++port) {
    Nic& nic = host.nics.emplace_back();
    nic.name.value = "mlx5_" + std::to_string(port - 1);
    nic.pci_address.value = "0000:03:00.0";
    nic.ports.resize(1);
    nic.ports[0].number = port;
    nic.ports[0].state.value = port == 1 ? "ACTIVE" : "DOWN";
  }
  if (listed_backwards) std::reverse(host.nics.begin(), host.nics.end());
  return host;
}

}  // namespace collbench::topology
