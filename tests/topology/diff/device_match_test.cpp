#include "topology/diff/finding.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "topology/diff/topology_diff.hpp"
#include "topology/machines/reference_machines.hpp"

namespace collbench::topology::device_match_test {
namespace {

constexpr Device gpu(int index) { return {DeviceKind::gpu, index}; }
constexpr Device nic(int index) { return {DeviceKind::nic, index}; }

Host machine(const char* name) { return reference_host(*find_reference_machine(name)); }

TEST(DeviceMatch, EveryDeviceIsItsOwnCounterpart) {
  for (const ReferenceMachine& each : reference_machines()) {
    const Host host = reference_host(each);
    const DeviceMatch match = match_devices(host, host);
    for (const auto* list : {&match.gpus, &match.nics, &match.nvswitches, &match.numa_nodes}) {
      for (const DevicePair& devices : *list) EXPECT_EQ(devices.a, devices.b) << each.name;
    }
    EXPECT_EQ(match.gpus.size(), host.gpus.size());
    EXPECT_EQ(match.numa_nodes.size(), host.numa_nodes.size());
    EXPECT_EQ(match.bridges.size(), each.switches.size());
  }
}

TEST(DeviceMatch, TheListingDoesNotDecide) {
  const Host a = machine("hgx-h100");
  Host b = a;
  std::swap(b.gpus[2], b.gpus[5]);
  for (NvLinkBundle& bundle : b.nvlinks) {
    if (bundle.from.index == 2 || bundle.from.index == 5) bundle.from.index = 7 - bundle.from.index;
  }
  EXPECT_EQ(match_devices(a, b).in_b(gpu(2)), gpu(5));
}

TEST(DeviceMatch, WhereItSitsCountsMoreThanTheAddress) {
  const Host a = machine("hgx-h100");
  Host b = a;  // the NICs of the first switch and of the last one have changed their bus numbers
  std::string& first = *b.nics[0].pci_address.value;
  std::string& last = *b.nics[7].pci_address.value;
  std::swap(first, last);
  for (PciDevice& pci : b.pci_devices) {
    if (pci.address == first) {
      pci.address = last;
    } else if (pci.address == last) {
      pci.address = first;
    }
  }
  EXPECT_EQ(match_devices(a, b).in_b(nic(0)), nic(0));
}

TEST(DeviceMatch, NumaNodesGoByWhatIsNextToThem) {
  const Host a = machine("hgx-h100");
  Host b = a;
  for (NumaNode& node : b.numa_nodes) node.index += 2;
  for (PciDevice& pci : b.pci_devices) {
    if (pci.numa_node.known()) *pci.numa_node.value += 2;
  }
  const DeviceMatch match = match_devices(a, b);
  EXPECT_EQ(b.numa_nodes[static_cast<std::size_t>(match.numa_nodes[0].b->index)].index, 2);
}

TEST(DeviceMatch, AnEmptySlotHasNoCounterpart) {
  const Host a = machine("p5");
  const Host b = without_devices(a, {gpu(3), nic(10)});
  const DeviceMatch match = match_devices(a, b);
  EXPECT_EQ(match.in_b(gpu(3)), std::nullopt);
  EXPECT_EQ(match.in_b(nic(10)), std::nullopt);
  EXPECT_EQ(match.in_b(gpu(4)), gpu(3));
  const DeviceMatch turned = match_devices(b, a);
  EXPECT_EQ(
      std::count_if(turned.nics.begin(), turned.nics.end(), [](const DevicePair& each) { return !each.a; }),
      1);
}

TEST(DeviceMatch, MachinesThatHaveNothingInCommonEndSoon) {
  const DeviceMatch match = match_devices(machine("p5"), machine("dgx-1v"));
  EXPECT_EQ(match.gpus.size(), 8U);
  EXPECT_EQ(match.nics.size(), 32U);
  EXPECT_TRUE(match_devices(Host{}, machine("p5")).gpus.at(0).b.has_value());
}

}  // namespace
}  // namespace collbench::topology::device_match_test
