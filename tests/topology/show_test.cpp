#include "topology/show.hpp"

#include <gmock/gmock.h>

#include "tests/topology/fixture.hpp"
#include "topology/hwloc_xml.hpp"
#include "topology/merge.hpp"
#include "topology/nccl_topology_xml.hpp"
#include "topology/nvidia_smi_nvlink.hpp"
#include "topology/nvidia_smi_topo.hpp"
#include "topology/reference_machines.hpp"
#include "topology/show_matrix.hpp"

namespace collbench {
namespace {

using testing::HasSubstr;

TEST(Show, DrawsTheTreeWithTheAffinity) {
  const Host host = read_hwloc_xml(fixture("hwloc2.xml"), "hwloc2.xml");
  EXPECT_EQ(show_topology({{host}}, {}),
            "node1  Example 2000\n"
            "2 × NVIDIA H100 80GB HBM3, 18 NVLinks each, 4 NICs, 2 NUMA nodes\n"
            "├─ NUMA 0  CPUs 0-31  252 GiB  Intel(R) Xeon(R) Platinum 8462Y+\n"
            "│  └─ PCIe 0000:16:00.0  63 GB/s\n"
            "│     ├─ GPU0  NVIDIA H100 80GB HBM3  0000:18:00.0  63 GB/s\n"
            "│     └─ mlx5_0 (ib0)  0000:19:00.0  63 GB/s ACTIVE\n"
            "└─ NUMA 1  CPUs 32-63  252 GiB  Intel(R) Xeon(R) Platinum 8462Y+\n"
            "   ├─ PCIe 0000:98:00.0  63 GB/s\n"
            "   │  ├─ GPU1  NVIDIA H100 80GB HBM3  0000:9a:00.0  63 GB/s\n"
            "   │  └─ mlx5_1 (ib1)  0000:9b:00.0  63 GB/s ACTIVE\n"
            "   └─ PCIe 0000:c0:01.0  31.5 GB/s\n"
            "      ├─ mlx5_2  0000:c1:00.0  31.5 GB/s ACTIVE\n"
            "      └─ mlx5_3  0000:c1:00.1  31.5 GB/s DOWN\n"
            "Affinity\n"
            "  GPU0    NUMA 0  nearest NIC mlx5_0 (PXB)  18 NVLinks to GPU1\n"
            "  GPU1    NUMA 1  nearest NIC mlx5_1 (PXB)  18 NVLinks to GPU0\n");
}

TEST(Show, AddsTheMatrixAndTheSourcesWhenAsked) {
  const Host host = read_nvidia_smi_topo(fixture("topo_m.txt"), "topo_m.txt");
  EXPECT_THAT(
      show_topology({{host}}, {true, true}),
      testing::AllOf(HasSubstr(show_matrix(host)), HasSubstr("Source: nvidia-smi topo -m, topo_m.txt\n")));
}

TEST(Show, SaysWhatServesTheGpus) {
  Host host = reference_host(*find_reference_machine("hgx-h100"));
  host.fabric_manager.value = "failed";
  host.peer_memory.value = "none";
  const std::string text = show_topology({{host}}, {});
  EXPECT_THAT(text, HasSubstr("  fabric manager failed  peer memory none\n"));
  EXPECT_THAT(text, HasSubstr("GPU7    NUMA 1  nearest NIC NIC7 (PIX)  18 NVLinks to every other GPU\n"));
}

TEST(Show, PlacesDevicesOfAMatrixByTheirAffinity) {
  const std::string text = show_topology({{read_nvidia_smi_topo(fixture("topo_m.txt"), "topo_m.txt")}}, {});
  EXPECT_THAT(
      text,
      HasSubstr("├─ NUMA 0\n│  └─ GPU0\n├─ NUMA 1\n│  └─ GPU1\n└─ NUMA node not known\n   ├─ mlx5_0\n"));
}

TEST(Show, SaysWhatIsWrong) {
  Host narrow = read_nccl_topology_xml(fixture("nccl_topology.xml"), "D.xml");
  narrow.pci_devices.at(2).link_now.width.value = 4;
  narrow.notes.push_back("half of it is hidden");
  narrow.disagreements.push_back({"GPU 0", "model", "A", 0, "B", 0});
  const std::string text =
      show_topology({{merge_hosts({narrow, read_nvidia_smi_nvlink(fixture("nvlink_s.txt"), "N.txt")})}}, {});
  EXPECT_THAT(text, HasSubstr("Gen5 x4 of x16"));
  EXPECT_THAT(text, HasSubstr("1 NVLinks inactive"));
  EXPECT_THAT(text, HasSubstr("Note: half of it is hidden\n"));
  EXPECT_THAT(text, HasSubstr("Disagree: GPU 0 model: A (NCCL topology XML of D.xml), B"));
}

TEST(Show, OneReasonForManyDisagreementsIsOneLine) {
  Host host;
  host.sources = {{"A", "a", ""}, {"B", "b", ""}};
  for (const char* pair : {"1 – 2", "1 – 3", "1 – 4", "1 – 5", "1 – 6"})
    host.disagreements.push_back({pair, "path", "SYS", 0, "PHB", 1});
  host.disagreements.push_back({"2 – 3", "path", "PIX", 0, "PHB", 1});
  EXPECT_THAT(
      show_topology({{host}}, {}),
      testing::AllOf(HasSubstr("Disagree: 1 – 2, 1 – 3, 1 – 4 and 2 more path: SYS (A of a), PHB (B of b)\n"),
                     HasSubstr("Disagree: 2 – 3 path: PIX (A of a), PHB (B of b)\n")));
}

TEST(Show, AHostWithoutGpusIsShownToo) {
  Host host;
  host.numa_nodes.resize(1);
  host.nics.resize(1);
  host.nics[0].name.value = "eth0";
  EXPECT_EQ("host\nno GPU, 1 NIC, 1 NUMA node\n└─ NUMA 0\n   └─ eth0\n", show_topology({{host}}, {}));
}

TEST(Show, ListsEveryReferenceMachine) {
  const std::string list = list_reference_machines();
  for (const ReferenceMachine& machine : reference_machines())
    EXPECT_THAT(list, HasSubstr(std::string(machine.name)));
}

}  // namespace
}  // namespace collbench
