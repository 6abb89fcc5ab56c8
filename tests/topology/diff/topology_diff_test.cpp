#include "topology/diff/topology_diff.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "tests/topology/diff/findings.hpp"
#include "tests/topology/diff/mutations.hpp"
#include "topology/catalog/finding_kinds.hpp"

namespace collbench::topology::topology_diff_test {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

/// Codes with their devices, one a line: what a failing test shows.
std::vector<std::string> lines(const std::vector<Finding>& found) {
  std::vector<std::string> words;
  for (const Finding& finding : found)
    words.push_back(fmt::format("{} | {} | {}", finding.code, finding.device, finding.what));
  return words;
}

class ReferenceDiff : public testing::TestWithParam<ReferenceMachine> {
 protected:
  [[nodiscard]] static Host healthy() { return healthy_machine(GetParam()); }
};

INSTANTIATE_TEST_SUITE_P(All, ReferenceDiff,
                         testing::ValuesIn(reference_machines().begin(), reference_machines().end()),
                         [](const auto& machine) {
                           std::string name(machine.param.name);
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST_P(ReferenceDiff, FindsNothingInItself) {
  EXPECT_THAT(lines(findings(healthy(), healthy())), IsEmpty());
  const Host bare = reference_host(GetParam());
  EXPECT_THAT(lines(findings(bare, bare)), IsEmpty());
  EXPECT_THAT(lines(findings(bare, healthy(), true)), IsEmpty());
}

/// From either side, and whichever device.
void expect_one_finding(const Host& healthy, const Mutation& mutation) {
  SCOPED_TRACE(fmt::format("{} of {}", mutation.attribute, mutation.device));
  const auto kind = std::ranges::find_if(
      finding_kinds(), [&](const FindingKind& each) { return reads(each, mutation.attribute); });
  const std::vector<Finding> found = findings(healthy, mutation.host);
  if (kind == finding_kinds().end()) {
    EXPECT_THAT(lines(found), IsEmpty());
    return;
  }
  // ACS is an attribute of bridges, and a mask may be cut or be another one.
  if (mutation.attribute == "PCI.acs" && found.empty()) return;
  // The sentence of a card that has no bridge is no fault.
  if (mutation.attribute == "GPU.nvlink_state" && mutation.host.gpus[0].nvlinks_active.value == 0) return;
  ASSERT_THAT(lines(found), SizeIs(1));
  if (found[0].code != "affinity-differs") {
    EXPECT_EQ(found[0].code, kind->code) << found[0].what;
  }
  const std::vector<Finding> turned = findings(mutation.host, healthy);
  ASSERT_THAT(lines(turned), SizeIs(1));
  EXPECT_EQ(turned[0].code, found[0].code);
}

TEST_P(ReferenceDiff, EveryAttributeThatGetsWorseIsOneFinding) {
  for (const Mutation& mutation : mutations_of(healthy())) expect_one_finding(healthy(), mutation);
}

TEST_P(ReferenceDiff, EveryStatedNvLinkThatIsLostIsOneFinding) {
  const Host host = with_stated_nvlinks(healthy());
  EXPECT_THAT(lines(findings(host, host)), IsEmpty());
  for (const Mutation& mutation : mutations_of(host)) {
    if (mutation.attribute == "path.nvlinks") expect_one_finding(host, mutation);
  }
}

TEST_P(ReferenceDiff, EveryDeviceThatIsTakenAwayIsFoundAndNothingElse) {
  const Host host = healthy();
  const auto expect = [&](DeviceKind kind, std::size_t count, std::string_view code) {
    for (int i = 0; i < static_cast<int>(count); ++i) {
      const Host without = without_devices(host, {{kind, i}});
      const std::string device = finding_device(host, {kind, i});
      EXPECT_THAT(findings(host, without),
                  ElementsAre(AllOf(Field(&Finding::code, code), Field(&Finding::device, device))));
    }
  };
  expect(DeviceKind::gpu, host.gpus.size(), "gpu-missing");
  expect(DeviceKind::nic, host.nics.size(), "nic-missing");
  if (host.nvswitches.size() > 1) expect(DeviceKind::nvswitch, host.nvswitches.size(), "nvswitch-missing");
}

TEST_P(ReferenceDiff, ASwitchThatIsTakenAwayIsOneFindingThatListsWhatHungBelowIt) {
  const Host host = healthy();
  for (const PciDevice& pci : host.pci_devices) {
    if (!pci.parent.empty()) continue;
    std::vector<Device> below;
    for (const Device& device : gpus_and_nics(host)) {
      const auto way = way_to_root(host, pci_address_of(host, device).value_or(""));
      if (!way.empty() && way.back()->address == pci.address) below.push_back(device);
    }
    if (below.size() < 2) continue;  // a root port: its device is what is missing
    Host without = without_devices(host, below);
    std::erase_if(without.pci_devices, [&](const PciDevice& each) { return each.address == pci.address; });
    const std::vector<Finding> found = findings(host, without);
    ASSERT_THAT(lines(found), SizeIs(1)) << pci.address;
    EXPECT_EQ(found[0].code, "switch-missing");
    EXPECT_EQ(found[0].device, "PCIe switch " + pci.address);
    for (const Device& device : below) EXPECT_THAT(found[0].what, HasSubstr(finding_device(host, device)));
  }
}

/// The same machine as another system may list it: other bus numbers, indices, names, UUIDs, order.
Host shuffled(const Host& host, unsigned seed) {
  std::mt19937 random(seed);
  Host other = host;
  const auto permutation = [&random](std::size_t count) {
    std::vector<int> order(count);
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), random);
    return order;
  };
  const std::vector<int> gpus = permutation(host.gpus.size());
  const std::vector<int> nics = permutation(host.nics.size());
  const std::vector<int> switches = permutation(host.nvswitches.size());
  const std::vector<int> buses = permutation(255);
  const auto address = [&](std::string& text) {
    if (text.size() < 7) return;
    const int bus = std::stoi(text.substr(5, 2), nullptr, 16);
    text.replace(5, 2, fmt::format("{:02x}", buses[static_cast<std::size_t>(bus) % 255]));
  };
  const auto move = [](auto& items, const std::vector<int>& to) {
    auto old = items;
    for (std::size_t i = 0; i < old.size(); ++i) items[static_cast<std::size_t>(to[i])] = old[i];
  };
  move(other.gpus, gpus);
  move(other.nics, nics);
  move(other.nvswitches, switches);
  for (int i = 0; i < static_cast<int>(other.gpus.size()); ++i) {
    Gpu& gpu = other.gpus[static_cast<std::size_t>(i)];
    gpu.index.value = i;
    gpu.uuid.value = fmt::format("GPU-{}-{}", seed, i);
    address(*gpu.pci_address.value);
  }
  for (int i = 0; i < static_cast<int>(other.nics.size()); ++i) {
    Nic& nic = other.nics[static_cast<std::size_t>(i)];
    nic.label.value = fmt::format("NIC{}", i);
    nic.name.value = fmt::format("rail{}_{}", seed, i);
    address(*nic.pci_address.value);
  }
  for (NvSwitch& each : other.nvswitches) address(*each.pci_address.value);
  for (PciDevice& each : other.pci_devices) {
    address(each.address);
    address(each.parent);
    if (each.host_bridge.known()) address(*each.host_bridge.value);
  }
  std::shuffle(other.pci_devices.begin(), other.pci_devices.end(), random);
  const auto device = [&](Device& each) {
    const auto& to = each.kind == DeviceKind::gpu ? gpus : each.kind == DeviceKind::nic ? nics : switches;
    each.index = to[static_cast<std::size_t>(each.index)];
  };
  const auto links = [&](auto& list) {
    for (auto& each : list) {
      device(each.from);
      device(each.to);
    }
    std::shuffle(list.begin(), list.end(), random);
  };
  links(other.nvlinks);
  links(other.stated_paths);
  links(other.peer_access);
  for (ChannelGraph& graph : other.nccl_graphs) {
    for (auto& channel : graph.channels) std::for_each(channel.begin(), channel.end(), device);
    std::shuffle(graph.channels.begin(), graph.channels.end(), random);
  }
  return other;
}

TEST_P(ReferenceDiff, NamesNumbersAndTheOrderOfListingAreNoDifference) {
  for (unsigned seed = 1; seed <= 5; ++seed) {
    SCOPED_TRACE(seed);
    EXPECT_THAT(lines(findings(healthy(), shuffled(healthy(), seed))), IsEmpty());
    const Host bare = reference_host(GetParam());
    EXPECT_THAT(lines(findings(bare, shuffled(bare, seed))), IsEmpty());
  }
}

Host hgx() { return healthy_machine(*find_reference_machine("hgx-h100")); }

TEST(TopologyDiff, RenumberedNicsAreReportedAsRenumbered) {
  Host other = hgx();
  std::swap(other.nics[0].name, other.nics[3].name);
  const auto found = findings(hgx(), other);
  ASSERT_THAT(lines(found), SizeIs(1));
  EXPECT_EQ(found[0].code, "nic-renumbered");
  EXPECT_THAT(found[0].what, HasSubstr("mlx5_3 is where mlx5_0 was"));
}

/// One NIC more that was found first, or a gap: every name is another one, and its rank is the same.
TEST(TopologyDiff, NumbersThatKeepTheirOrderAreNoDifference) {
  Host shifted = hgx();
  for (std::size_t i = 0; i < shifted.nics.size(); ++i)
    shifted.nics[i].name.value = fmt::format("mlx5_{}", i + 1);
  EXPECT_THAT(lines(findings(hgx(), shifted)), IsEmpty());
  shifted.nics[7].name.value = "mlx5_bond_0";
  EXPECT_THAT(lines(findings(hgx(), shifted)), IsEmpty());
}

TEST(TopologyDiff, NicsThatASourceDoesNotListAreNotMissing) {
  Host of_gpus = hgx();
  of_gpus.sources = {{"nvidia-smi -q -x", "f", ""}};
  of_gpus = without_devices(of_gpus, {{DeviceKind::nic, 0}, {DeviceKind::nic, 1}});
  of_gpus.nccl_graphs.clear();
  EXPECT_THAT(lines(findings(hgx(), of_gpus)), IsEmpty());
  of_gpus.sources.push_back({"sysfs PCI", "live", ""});
  EXPECT_THAT(lines(findings(hgx(), of_gpus)), ElementsAre(HasSubstr("nic-missing | mlx5_0")));
}

TEST(TopologyDiff, AnIdleGpuIsNoFault) {
  Host idle = hgx();
  for (PciDevice& pci : idle.pci_devices) {
    if (pci.class_code.value == "0x030200") pci.link_now = {{2.5}, {16}, {}};
  }
  EXPECT_THAT(lines(findings(hgx(), idle)), IsEmpty());
}

TEST(TopologyDiff, ANicThatRunsBelowWhatBothEndsAllowIsSlowByItself) {
  Host slow = hgx();
  for (PciDevice& pci : slow.pci_devices) {
    if (pci.address == *slow.nics[2].pci_address.value) pci.link_now = {{8}, {16}, {}};
  }
  EXPECT_THAT(lines(findings(hgx(), slow)), ElementsAre(HasSubstr("PCIe 8 GT/s, but both ends allow 32")));
}

TEST(TopologyDiff, ANarrowSlotIsNoFaultOfTheCard) {
  const auto in_a_slot_of_8 = [] {
    Host host = hgx();
    for (PciDevice& pci : host.pci_devices) {
      if (pci.parent.empty()) pci.link_max.width.value = 8;
      if (!pci.parent.empty()) pci.link_now.width.value = 8;
    }
    return host;
  };
  EXPECT_THAT(lines(findings(in_a_slot_of_8(), in_a_slot_of_8())), IsEmpty());
}

TEST(TopologyDiff, LinksThatAModelDoesNotHaveAreNotMissed) {
  Host nvl = healthy_machine(*find_reference_machine("h100-nvl"));
  for (Gpu& gpu : nvl.gpus) gpu.nvlinks_inactive.value = 6;
  EXPECT_THAT(lines(findings(nvl, nvl)), IsEmpty());
}

TEST(TopologyDiff, FewerNvLinksThanTheModelHasIsAFaultOfBoth) {
  Host both = hgx();
  both.gpus[1].nvlinks_active.value = 16;
  EXPECT_THAT(findings(both, both),
              ElementsAre(Field(&Finding::side, Side::a), Field(&Finding::side, Side::b)));
}

TEST(TopologyDiff, AVirtualMachineThatHidesSwitchesIsOneFinding) {
  Host hidden = hgx();
  for (PciDevice& pci : hidden.pci_devices) {
    for (const PciDevice& root : hgx().pci_devices) {
      if (root.address == pci.parent) pci.numa_node = root.numa_node;
    }
  }
  std::erase_if(hidden.pci_devices, [](const PciDevice& pci) { return pci.parent.empty(); });
  for (PciDevice& pci : hidden.pci_devices) pci.parent.clear();
  Host shown = hgx();
  hidden.stated_paths.clear();
  shown.stated_paths.clear();
  EXPECT_THAT(findings(shown, hidden),
              ElementsAre(AllOf(Field(&Finding::code, "switches-hidden"), Field(&Finding::side, Side::b))));
}

TEST(TopologyDiff, AVirtualBridgeOfOneLaneIsOneFinding) {
  Host guest = hgx();
  for (PciDevice& pci : guest.pci_devices) {
    if (pci.parent.empty()) {
      pci.link_max = {{2.5}, {1}, {}};
      break;
    }
  }
  EXPECT_THAT(findings(hgx(), guest), ElementsAre(Field(&Finding::code, "virtual-bridge")));
}

TEST(TopologyDiff, ANicBelowAnotherSwitchIsTheNicsFinding) {
  Host moved = hgx();
  moved.stated_paths.clear();
  const Host usual = moved;
  for (PciDevice& pci : moved.pci_devices) {
    if (pci.address == *moved.nics[0].pci_address.value)
      pci.parent =
          moved.pci_devices[3].parent.empty() ? moved.pci_devices[3].address : moved.pci_devices[3].parent;
  }
  const auto found = findings(usual, moved);
  ASSERT_THAT(lines(found), SizeIs(1));
  EXPECT_EQ(found[0].code, "devices-apart");
  EXPECT_THAT(found[0].device, HasSubstr("mlx5_0"));
}

TEST(TopologyDiff, AnotherNumberOfNumaNodesIsOneFinding) {
  Host nps4 = hgx();
  for (const int index : {2, 3}) {
    nps4.numa_nodes.push_back(nps4.numa_nodes[0]);
    nps4.numa_nodes.back().index = index;
  }
  EXPECT_THAT(findings(hgx(), nps4), ElementsAre(Field(&Finding::code, "numa-nodes")));
}

TEST(TopologyDiff, AllNvLinksDownIsOneFinding) {
  const Host whole = with_stated_nvlinks(hgx());
  Host down = whole;
  for (StatedPath& path : down.stated_paths) {
    if (path.type.value != PathType::nvl) continue;
    path.type.value = pci_path_type(down, path.from, path.to);
    path.nvlinks.value.reset();
  }
  const auto found = findings(whole, down);
  ASSERT_THAT(lines(found), SizeIs(1));
  EXPECT_EQ(found[0].code, "nvlink-off");
}

TEST(TopologyDiff, WhatTheReferenceHasNotIsExtra) {
  const Host reference = reference_host(*find_reference_machine("hgx-h100"));
  Host node = hgx();
  node.nics.push_back(node.nics[0]);
  node.nics.back().pci_address.value = "0000:f0:00.0";
  node.nics.back().name.value = "eth0";
  node.nics.back().ports.clear();
  EXPECT_THAT(findings(reference, node, true), ElementsAre(Field(&Finding::code, "extra-device")));
  EXPECT_THAT(findings(reference, node, false),
              ElementsAre(AllOf(Field(&Finding::code, "nic-missing"), Field(&Finding::side, Side::a))));
}

TEST(TopologyDiff, VersionsOfToolsArePrintedAndNoFinding) {
  Host older = hgx();
  Host newer = hgx();
  older.sources.push_back({"nvidia-smi topo -m", "a", "535"});
  newer.sources.push_back({"nvidia-smi topo -m", "b", "550"});
  const TopologyDiff diff = diff_hosts(pair_hosts(older, newer, false));
  EXPECT_THAT(lines(diff.findings), IsEmpty());
  EXPECT_THAT(diff.versions, ElementsAre("nvidia-smi topo -m: 535 against 550"));
}

TEST(TopologyDiff, WhatOnlyOneMachineKnowsIsNotCompared) {
  Host silent = hgx();
  silent.gpus[0].nvlinks_active = {};
  silent.nics[0].firmware = {};
  silent.nvlinks.clear();
  silent.nvswitches.clear();
  EXPECT_THAT(lines(findings(hgx(), silent)), IsEmpty());
}

TEST(TopologyDiff, FilesOfOneMachineThatDisagreeAreAFinding) {
  Host merged = hgx();
  merged.sources = {{"NCCL topology XML", "h1.xml", ""}, {"NCCL graph XML", "node1.xml", ""}};
  merged.disagreements = {{"NIC 7 port 1", "gigabits_per_second", "400", 0, "200", 1}};
  const std::vector<Finding> all = findings(hgx(), merged);
  ASSERT_THAT(lines(all), testing::SizeIs(1));
  EXPECT_EQ(all[0].code, "sources-disagree");
  EXPECT_EQ(all[0].what, "NIC 7 port 1 gigabits_per_second: 400 in h1.xml, 200 in node1.xml");
  EXPECT_NE(group_key(merged), group_key(hgx()));
  // Two tools on one machine at one time.
  merged.sources[0].location = merged.sources[1].location = "live";
  EXPECT_THAT(lines(findings(hgx(), merged)), IsEmpty());
}

TEST(TopologyDiff, NamesWhatNotBothState) {
  EXPECT_THAT(not_compared(pair_hosts(hgx(), hgx(), false)), IsEmpty());
  Host silent = hgx();
  for (Nic& nic : silent.nics) nic.ports.clear();
  EXPECT_THAT(not_compared(pair_hosts(hgx(), silent, false)),
              ElementsAre("NIC rates", "states of NIC ports"));
}

}  // namespace
}  // namespace collbench::topology::topology_diff_test
