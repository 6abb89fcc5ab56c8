// Bridges that a hypervisor made up, above what a host without one has.
#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "tests/topology/diff/findings.hpp"
#include "topology/graph/lookup.hpp"
#include "topology/machines/reference_machines.hpp"
#include "topology/render/render.hpp"

namespace collbench::topology::pcie_test {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;

PciDevice bridge(const char* vendor, std::optional<double> rate, std::optional<int> width) {
  PciDevice made;
  made.address = "0000:00:02.0";
  made.class_code.value = "0x060400";
  made.vendor.value = vendor;
  made.link_max.gigatransfers_per_second.value = rate;
  made.link_max.width.value = width;
  return made;
}

/// As virtual machines of QEMU, Hyper-V and others show them, in NCCL's XML and in /sys.
std::vector<PciDevice> virtual_bridges() {
  return {bridge("0x1b36", 2.5, 1), bridge("0x1b36", 2.5, std::nullopt), bridge("0x1b36", 2.5, 0),
          bridge("0x1414", 2.5, 0), bridge("0x1d0f", 2.5, std::nullopt), bridge("0x104c", 2.5, 1)};
}

/// The machine with `bridges` above its PCIe switches, one each in turn; all switches of a NUMA node are
/// below one where there are fewer.
Host below(Host host, const std::vector<PciDevice>& bridges) {
  std::vector<PciDevice> added;
  int at = 0;
  for (PciDevice& pci : host.pci_devices) {
    if (!pci.parent.empty()) continue;
    const int node = pci.numa_node.value_or(0);
    PciDevice above = bridges[static_cast<std::size_t>(at++) % bridges.size()];
    above.address = fmt::format("0000:00:{:02x}.0", bridges.size() > 1 ? at : 1 + node);
    above.numa_node = pci.numa_node;
    pci.parent = above.address;
    if (find_pci_device(host, above.address) == nullptr &&
        std::none_of(added.begin(), added.end(),
                     [&](const PciDevice& each) { return each.address == above.address; }))
      added.push_back(above);
  }
  host.pci_devices.insert(host.pci_devices.end(), added.begin(), added.end());
  return host;
}

Host machine(const char* name) {
  Host host = reference_host(*find_reference_machine(name));
  host.sources = {{"NCCL topology XML", "node.xml", ""}};
  return host;
}

TEST(VirtualBridges, AboveRealSwitchesAreOneFindingOfTheMachineThatHasThem) {
  for (const char* name : {"hgx-h100", "hgx-a100", "dgx-1v"}) {
    for (const PciDevice& made : virtual_bridges()) {
      const Host guest = below(machine(name), {made});
      SCOPED_TRACE(fmt::format("{} {}", name, virtual_link_text(made)));
      const auto one = [&](Side side) {
        return ElementsAre(AllOf(Field(&Finding::code, "virtual-bridge"), Field(&Finding::side, side),
                                 Field(&Finding::what, virtual_link_text(made))));
      };
      EXPECT_THAT(findings(machine(name), guest), one(Side::b));
      EXPECT_THAT(findings(guest, machine(name)), one(Side::a));
      EXPECT_THAT(findings(reference_host(*find_reference_machine(name)), guest, true), one(Side::b));
      EXPECT_THAT(findings(guest, guest), IsEmpty());
    }
  }
}

TEST(VirtualBridges, OneAboveEachSwitchIsOneFindingThatNamesAll) {
  const PciDevice made = bridge("0x1b36", 2.5, 1);
  const Host guest = below(machine("dgx-1v"), {made, made, made, made});
  const auto found = findings(machine("dgx-1v"), guest);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].device, "PCIe bridges 0000:00:01.0, 0000:00:02.0, 0000:00:03.0 and 0000:00:04.0");
  EXPECT_EQ(found[0].devices.size(), machine("dgx-1v").gpus.size() + machine("dgx-1v").nics.size());
}

/// As NCCL and /sys give it: the link of what is below one is what both of its ends allow.
TEST(VirtualBridges, AreNotWhatIsBelowThem) {
  for (const PciDevice& made : virtual_bridges()) {
    Host guest = below(machine("hgx-h100"), {made});
    for (PciDevice& pci : guest.pci_devices) {
      const PciDevice* above = find_pci_device(guest, pci.parent);
      if (above == nullptr || !is_virtual_bridge(guest, *above)) continue;
      pci.link_max.gigatransfers_per_second = made.link_max.gigatransfers_per_second;
      if (made.link_max.width.value_or(0) > 0) pci.link_max.width = made.link_max.width;
    }
    EXPECT_THAT(findings(machine("hgx-h100"), guest),
                ElementsAre(AllOf(Field(&Finding::code, "virtual-bridge"),
                                  Field(&Finding::device, "PCIe bridges 0000:00:01.0 and 0000:00:02.0"))))
        << virtual_link_text(made);
  }
}

/// What is worse below them is found as without them.
TEST(VirtualBridges, HideNoOtherFault) {
  Host guest = below(machine("hgx-h100"), {bridge("0x1b36", 2.5, std::nullopt)});
  for (PciDevice& pci : guest.pci_devices) {
    if (pci.address == way_to_root(guest, *guest.gpus[2].pci_address.value)[1]->address)
      pci.link_max.width.value = 8;
  }
  EXPECT_THAT(findings(machine("hgx-h100"), guest),
              testing::UnorderedElementsAre(Field(&Finding::code, "virtual-bridge"),
                                            Field(&Finding::code, "pcie-narrow")));
}

/// NCCL plans by them: of two virtual machines it matters below which one a NIC is.
TEST(VirtualBridges, OfTwoVirtualMachinesANicBelowAnotherOneIsFound) {
  for (const PciDevice& made : virtual_bridges()) {
    Host usual;
    usual.numa_nodes.emplace_back().index = 0;
    for (int i = 0; i < 2; ++i) {
      PciDevice& bridge = usual.pci_devices.emplace_back(made);
      bridge.address = fmt::format("0000:0{}:00.0", i + 1);
      bridge.numa_node.value = 0;
      for (const int bus : {10 + i, 20 + i}) {
        PciDevice& pci = usual.pci_devices.emplace_back();
        pci.address = fmt::format("0000:{}:00.0", bus);
        pci.parent = fmt::format("0000:0{}:00.0", i + 1);
        pci.numa_node.value = 0;
      }
      usual.gpus.emplace_back().pci_address.value = fmt::format("0000:{}:00.0", 10 + i);
      usual.nics.emplace_back().pci_address.value = fmt::format("0000:{}:00.0", 20 + i);
    }
    EXPECT_THAT(findings(usual, usual), testing::IsEmpty());
    Host moved = usual;
    for (PciDevice& pci : moved.pci_devices)
      if (pci.address == "0000:20:00.0") pci.parent = "0000:02:00.0";
    EXPECT_THAT(findings(usual, moved), testing::Contains(Field(&Finding::code, "devices-apart")))
        << virtual_link_text(made);
  }
}

TEST(VirtualBridges, AreShownThoughTheyHaveOneThingBelow) {
  for (const PciDevice& made : virtual_bridges()) {
    const std::string text = show_tree(below(machine("dgx-1v"), {made, made, made, made}));
    for (int i = 1; i <= 4; ++i)
      EXPECT_THAT(text,
                  HasSubstr(fmt::format("virtual bridge 0000:00:0{}.0  {}\n", i, virtual_link_text(made))));
  }
  EXPECT_THAT(show_tree(machine("dgx-1v")), testing::Not(HasSubstr("virtual")));
}

}  // namespace
}  // namespace collbench::topology::pcie_test
