#include "analysis/models/nccl/node_nics.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "topology/graph/lookup.hpp"
#include "topology/machines/reference_machines.hpp"

namespace collbench::analysis::node_nics_test {
namespace {

TEST(NodeNics, ThePortsOfACardShareItsSlot) {
  topology::Host host;
  for (const char* address : {"0000:04:00.0", "0000:04:00.1"}) {
    topology::PciDevice& pci = host.pci_devices.emplace_back();
    pci.address = address;
    pci.link_max = {{16}, {16}, {}};
    topology::Nic& nic = host.nics.emplace_back();
    nic.pci_address.value = address;
    nic.ports.emplace_back().gigabits_per_second.value = 200;
  }
  const NodeNics two = node_nics(host, GpuGeneration::ampere);
  EXPECT_EQ(two.used, 2);
  EXPECT_DOUBLE_EQ(two.fastest.path, 12);  // half of 24 GB/s of Gen4 x16
  host.nics[1].ports[0].state.value = "DOWN";
  EXPECT_DOUBLE_EQ(node_nics(host, GpuGeneration::ampere).fastest.path, 24);
}

TEST(NodeNics, APortThatIsDownSharesNoLink) {
  topology::Host host;
  topology::PciDevice& pci = host.pci_devices.emplace_back();
  pci.address = "0000:04:00.0";
  pci.link_max = {{16}, {16}, {}};
  topology::Nic& nic = host.nics.emplace_back();
  nic.pci_address.value = pci.address;
  for (int port = 0; port < 2; ++port) nic.ports.emplace_back().gigabits_per_second.value = 400;
  EXPECT_TRUE(shares_a_full_link(host, 0));
  for (const char* state : {"DOWN", "INIT", "ARMED"}) {
    host.nics[0].ports[1].state.value = state;
    EXPECT_FALSE(shares_a_full_link(host, 0)) << state;
  }
}

/// What libnccl 2.28.9's search found for such machines with one GPU's PCIe link at x8: 7, 7, 4, 14 and 30
/// channels.
TEST(NodeNics, NicsBehindANarrowGpuAreNotReachedWhicheverGpuItIs) {
  const std::vector<std::pair<std::string, int>> all{
      {"hgx-h100", 7}, {"hgx-a100", 7}, {"p4de", 4}, {"oci-h100", 14}, {"p5", 30}};
  for (const auto& [name, nics] : all) {
    const topology::ReferenceMachine& machine = *topology::find_reference_machine(name);
    const topology::Host healthy = topology::reference_host(machine);
    const auto generation = *topology::generation_of(healthy, healthy.gpus[0]);
    for (const topology::Gpu& gpu : healthy.gpus) {
      topology::Host host = healthy;
      for (topology::PciDevice& pci : host.pci_devices) {
        if (pci.address == gpu.pci_address.value) pci.link_now.width.value = 8;
      }
      EXPECT_EQ(node_nics(host, generation).used, nics) << name;
    }
  }
}

TEST(NodeNics, WhatAFileDoesNotStateMakesNoNicSlower) {
  topology::Host host = topology::reference_host(*topology::find_reference_machine("hgx-h100"));
  for (topology::PciDevice& pci : host.pci_devices) {
    if (pci.address == host.nics[3].pci_address.value) pci.link_max = {};
  }
  EXPECT_EQ(node_nics(host, GpuGeneration::hopper).slower.size(), 0U);
}

TEST(NodeNics, SlowPortsForManagementAreNotUsed) {
  topology::Host host = topology::reference_host(*topology::find_reference_machine("hgx-h100"));
  EXPECT_EQ(fast_enough_nics(host).size(), 8U);
  host.nics[5].ports[0].gigabits_per_second.value = 25;
  EXPECT_EQ(fast_enough_nics(host), (std::vector<int>{0, 1, 2, 3, 4, 6, 7}));
}

TEST(NodeNics, TheSlowestIsThatOfTheSlowestPortOrPcieLink) {
  const topology::Host healthy = topology::reference_host(*topology::find_reference_machine("hgx-h100"));
  topology::Host slow = healthy;
  slow.nics[5].ports[0].gigabits_per_second.value = 200;
  EXPECT_DOUBLE_EQ(slowest_nic(healthy, slow)->line_rate, 25);
  EXPECT_DOUBLE_EQ(slowest_nic(healthy, healthy)->line_rate, 50);
}

}  // namespace
}  // namespace collbench::analysis::node_nics_test
