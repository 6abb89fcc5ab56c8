#include "topology/graph/merge.hpp"

#include <gmock/gmock.h>

#include <algorithm>

#include "tests/topology/fixture.hpp"
#include "tests/topology/two_ports_at_one_address.hpp"
#include "topology/graph/lookup.hpp"
#include "topology/graph/nics.hpp"
#include "topology/graph/path.hpp"
#include "topology/readers/readers.hpp"

namespace collbench::topology::merge_test {
namespace {

std::vector<Host> all_readings() {
  return {read_nvidia_smi_query(fixture("query.xml"), "query.xml"),
          read_nvidia_smi_topo(fixture("topo_m.txt"), "topo_m.txt"),
          read_nvidia_smi_p2p(fixture("topo_p2p.txt"), "topo_p2p.txt"),
          read_nvidia_smi_nvlink(fixture("nvlink_s.txt"), "nvlink_s.txt"),
          read_nvidia_smi_csv(fixture("query_gpu.csv"), "query_gpu.csv"),
          read_nccl_topology_xml(fixture("nccl_topology.xml"), "nccl_topology.xml"),
          read_hwloc_xml(fixture("hwloc2.xml"), "hwloc2.xml")};
}

/// Cards of lspci, two functions each, and the four RDMA devices of a matrix.
Host functions_of_lspci() {
  Host host;
  host.sources.push_back({"lspci -vvv", "L", ""});
  for (const char* address : {"0000:04:00.0", "0000:04:00.1", "0000:89:00.0", "0000:89:00.1"})
    host.nics.emplace_back().pci_address.value = address;
  return host;
}

Host devices_of_a_matrix(const std::vector<std::string>& names) {
  Host host;
  host.sources.push_back({"nvidia-smi topo -m", "M", ""});
  for (const std::string& name : names) host.nics.emplace_back().name.value = name;
  host.stated_paths.push_back({{DeviceKind::nic, 0}, {DeviceKind::nic, 3}, {PathType::sys}, {}});
  return host;
}

TEST(Merge, NicsNamedAfterTheirAddressAreTheFunctionsThere) {
  const Host matrix = devices_of_a_matrix({"rocep4s0f0", "rocep4s0f1", "rocep137s0f0", "rocep137s0f1"});
  for (const auto& readings : {std::vector{matrix, functions_of_lspci()}, {functions_of_lspci(), matrix}}) {
    const Host host = merge_hosts(readings);
    ASSERT_EQ(host.nics.size(), 4U);
    for (const Nic& nic : host.nics) EXPECT_EQ(nic.pci_address.value, pci_address_in_name(*nic.name.value));
    EXPECT_TRUE(host.notes.empty());
  }
}

TEST(Merge, FunctionsWithoutNamesAndDevicesWithoutAddressesAreCountedOnce) {
  const Host matrix = devices_of_a_matrix({"mlx5_0", "mlx5_1", "mlx5_2", "mlx5_3"});
  Host cards = functions_of_lspci();
  cards.nics.resize(2);
  for (const auto& readings : {std::vector{matrix, cards}, {cards, matrix}}) {
    const Host host = merge_hosts(readings);
    ASSERT_EQ(host.nics.size(), 4U);
    EXPECT_EQ(host.nics[3].name.value, "mlx5_3");
    EXPECT_EQ(host.stated_paths[0].to, (Device{DeviceKind::nic, 3}));
    EXPECT_EQ("", find_inconsistency(host));
    EXPECT_THAT(texts(host.notes), testing::ElementsAre(testing::HasSubstr("2 NIC functions")));
  }
}

TEST(Merge, FunctionsOfLspciAndDevicesOfIbstatAreCountedOnce) {
  Host cards = functions_of_lspci();
  const std::vector<std::string> vendors{"0x14e4", "0x14e4", "0x15b3",
                                         "0x15b3"};  // the first card is Broadcom's
  for (std::size_t i = 0; i < cards.nics.size(); ++i) {
    PciDevice& pci = cards.pci_devices.emplace_back();
    pci.address = *cards.nics[i].pci_address.value;
    pci.vendor.value = vendors[i];
  }
  Host ibstat;
  ibstat.sources.push_back({"ibstat", "I", ""});
  for (const char* name : {"mlx5_0", "mlx5_1"}) {
    Nic& nic = ibstat.nics.emplace_back();
    nic.name.value = name;
    nic.ports.emplace_back().gigabits_per_second.value = 400;
  }
  for (const auto& readings : {std::vector{ibstat, cards}, {cards, ibstat}}) {
    const Host host = merge_hosts(readings);
    ASSERT_EQ(host.nics.size(), 4U);  // two functions that have no RDMA device, and two devices
    EXPECT_EQ(std::count_if(host.nics.begin(), host.nics.end(),
                            [](const Nic& nic) { return nic.name.known() && !nic.ports.empty(); }),
              2);
    EXPECT_EQ(host.pci_devices.size(), 4U);
    EXPECT_THAT(texts(host.notes), testing::ElementsAre(testing::HasSubstr("2 NIC functions")));
    EXPECT_EQ("", find_inconsistency(host));
  }
}

TEST(Merge, SevenSourcesOfOneMachineAreOneMachine) {
  const Host host = merge_hosts(all_readings());
  EXPECT_EQ(7U, host.sources.size());
  EXPECT_EQ(2U, host.gpus.size());
  EXPECT_EQ(4U, host.nics.size());
  EXPECT_EQ(2U, host.numa_nodes.size());
  EXPECT_EQ(2U, host.nvlinks.size());
  EXPECT_EQ(2U, host.peer_access.size());
  EXPECT_EQ("", find_inconsistency(host));
  // A GPU knows from each source what that alone knows.
  const Gpu& gpu = host.gpus[1];
  EXPECT_EQ("0000:9a:00.0", gpu.pci_address.value);
  EXPECT_EQ("32-63", gpu.cpu_affinity.value);
  EXPECT_EQ(17, gpu.nvlinks_active.value);
  EXPECT_EQ("nvidia-smi nvlink -s",
            host.sources.at(static_cast<std::size_t>(gpu.nvlinks_active.source)).reader);
  EXPECT_EQ(90, gpu.sm.value);
  EXPECT_EQ("0000:c1:00.1", host.nics[3].pci_address.value);  // NCCL gives it the address of function 0
  EXPECT_EQ("NIC3", host.nics[3].label.value);
}

TEST(Merge, SourcesThatAgreeAreNotSaidToDisagree) {
  const Host host = merge_hosts(all_readings());
  for (const Disagreement& d : host.disagreements) {
    ADD_FAILURE() << d.device << " " << d.attribute << ": " << d.kept << " and " << d.other;
  }
}

TEST(Merge, HwlocAndTopoAgreeWithEachOther) {
  const Host hwloc = read_hwloc_xml(fixture("hwloc2.xml"), "hwloc2.xml");
  const Host topo = read_nvidia_smi_topo(fixture("topo_m.txt"), "topo_m.txt");
  const Host both = merge_hosts({hwloc, topo});
  for (const Device a : gpus_and_nics(both)) {
    for (const Device b : gpus_and_nics(both)) {
      if (a == b) continue;
      EXPECT_EQ(path_between(hwloc, a, b)->type, path_between(both, a, b)->type);
      EXPECT_EQ(path_between(topo, a, b)->type, path_between(both, a, b)->type);
    }
  }
}

TEST(Merge, TheOrderOfReadingsDoesNotChangeWhatIsThere) {
  std::vector<Host> readings = all_readings();
  std::reverse(readings.begin(), readings.end());
  const Host host = merge_hosts(readings);
  EXPECT_EQ(2U, host.gpus.size());
  EXPECT_EQ(4U, host.nics.size());
  EXPECT_EQ("0000:c1:00.1", host.nics[3].pci_address.value);
  EXPECT_TRUE(host.disagreements.empty());
}

TEST(Merge, KeepsBothWhereTwoDisagree) {
  const Host query = read_nvidia_smi_query(fixture("query.xml"), "query.xml");
  const Host csv = read_nvidia_smi_csv(
      with(fixture("query_gpu.csv"), "1, 5, 16, 16, 81559 MiB", "1, 5, 8, 16, 40960 MiB"), "query_gpu.csv");
  const Host host = merge_hosts({query, csv});
  ASSERT_EQ(2U, host.disagreements.size());
  EXPECT_EQ("PCI 0000:18:00.0", host.disagreements[0].device);
  EXPECT_EQ("link_width_now", host.disagreements[0].attribute);
  EXPECT_EQ("16", host.disagreements[0].kept);
  EXPECT_EQ("8", host.disagreements[0].other);
  EXPECT_EQ(1, host.disagreements[0].other_source);
  EXPECT_EQ("memory_bytes", host.disagreements[1].attribute);
  EXPECT_EQ(16, host.pci_devices.at(0).link_now.width.value);
}

TEST(Merge, AStatedPathThatTheTreeContradictsIsSaid) {
  const Host hwloc = read_hwloc_xml(fixture("hwloc2.xml"), "hwloc2.xml");
  const Host topo =
      read_nvidia_smi_topo(with(fixture("topo_m.txt"), "NV18\tPXB", "NV18\tNODE"), "topo_m.txt");
  const Host host = merge_hosts({hwloc, topo});
  ASSERT_EQ(1U, host.disagreements.size());
  EXPECT_EQ("GPU0 – mlx5_0", host.disagreements[0].device);
  EXPECT_EQ("NODE", host.disagreements[0].kept);
  EXPECT_EQ("PXB", host.disagreements[0].other);
}

TEST(Merge, MaskedUuidsDoNotMakeGpusTheSame) {
  Host a;
  a.sources.resize(1);
  for (const char* address : {"0000:01:00.0", "0000:02:00.0"}) {
    Gpu gpu;
    gpu.uuid.value = "GPU-00000000-0000-0000-0000-000000000000";
    gpu.pci_address.value = address;
    a.gpus.push_back(gpu);
  }
  EXPECT_EQ(2U, merge_hosts({a, a}).gpus.size());
}

TEST(Merge, FindsThePortOfACardAtOneAddressHoweverListed) {
  // What has no name, as an interface of the kernel's, goes to the NIC with its port.
  Host nameless = two_ports_at_one_address();
  nameless.nics.erase(nameless.nics.begin());
  nameless.nics[0].name = {};
  nameless.nics[0].board.value = "B";
  for (const bool backwards : {false, true}) {
    const Host merged = merge_hosts({two_ports_at_one_address(backwards), nameless});
    ASSERT_EQ(merged.nics.size(), 2U);
    for (const Nic& nic : merged.nics) EXPECT_EQ(nic.board.known(), nic.name.value == "mlx5_1");
  }
}

TEST(Merge, WithoutAPortTheFirstNicAtAnAddressIsMeantHoweverListed) {
  Host nameless = two_ports_at_one_address();
  nameless.nics.pop_back();
  nameless.nics[0].name = {};
  nameless.nics[0].ports.clear();
  nameless.nics[0].board.value = "B";
  for (const bool backwards : {false, true}) {
    const Host merged = merge_hosts({two_ports_at_one_address(backwards), nameless});
    for (const Nic& nic : merged.nics) EXPECT_EQ(nic.board.known(), nic.name.value == "mlx5_0");
  }
}

}  // namespace
}  // namespace collbench::topology::merge_test
