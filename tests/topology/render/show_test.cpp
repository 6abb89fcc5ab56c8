#include "topology/render/render.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/topology/fixture.hpp"
#include "tests/topology/whole_fixture.hpp"
#include "topology/machines/reference_machines.hpp"
#include "topology/readers/readers.hpp"

namespace collbench::topology::show_test {
namespace {

using testing::HasSubstr;

TEST(Summary, LinksThatDifferAreARange) {
  Host host = reference_host(*find_reference_machine("hgx-h100"));
  host.gpus[5].nvlinks_active.value = 14;
  EXPECT_THAT(summarize_host(host), testing::HasSubstr(", 14 to 18 NVLinks each through 4 NVSwitches"));
  host.gpus[0].nvlinks_active.value = 0;
  EXPECT_THAT(summarize_host(host), testing::HasSubstr(", 0 to 18 NVLinks each"));
}

TEST(SummarizeHost, CountsWhatThereIs) {
  Host host = reference_host(*find_reference_machine("hgx-h100"));
  EXPECT_EQ(summarize_host(host),
            "8 × NVIDIA H100 80GB HBM3, 18 NVLinks each through 4 NVSwitches, 8 NICs (3200 Gb/s total), "
            "2 NUMA nodes");
  host.gpus[7].model.value = "NVIDIA A100";
  EXPECT_EQ(summarize_host(host).substr(0, 48), "1 × NVIDIA A100, 7 × NVIDIA H100 80GB HBM3, 18");
}

TEST(SummarizeHost, SaysLittleWhereLittleIsKnown) {
  EXPECT_EQ(summarize_host({}), "no GPU, 0 NICs");
  EXPECT_EQ(summarize_host(read_nvidia_smi_topo(fixture("topo_m.txt"), "topo_m.txt")),
            "2 × GPU, 18 NVLinks each, 4 NICs");
  Host host;
  host.gpus.resize(1);
  host.gpus[0].sm.value = 90;
  host.nics.resize(1);
  host.numa_nodes.resize(1);
  EXPECT_EQ(summarize_host(host), "1 × GPU (sm 90), 1 NIC, 1 NUMA node");
}

TEST(ShowGraphs, ChannelsOfEachAlgorithmByTheNamesOfTheirDevices) {
  EXPECT_EQ(show_graphs(whole_fixture()),
            "NCCL's ring: 4 channels, 24 GB/s each between GPUs (NVL), 24 GB/s each to the network (PXB)\n"
            "  mlx5_0 → GPU0 → GPU1 → mlx5_0\n"
            "  mlx5_1 → GPU1 → GPU0 → mlx5_1\n"
            "  mlx5_0 → GPU0 → GPU1 → mlx5_0\n"
            "  mlx5_1 → GPU1 → GPU0 → mlx5_1\n"
            "NCCL's tree: 2 channels, 48 GB/s each between GPUs (NVL), 24 GB/s each to the network (PXB)\n"
            "  mlx5_0 → GPU0 → GPU1 → mlx5_0\n"
            "  mlx5_1 → GPU1 → GPU0 → mlx5_1\n"
            "NCCL's CollNet chain: 0 channels\n");
}

TEST(ShowGraphs, TheSameWayIsShownOnce) {
  Host host = whole_fixture();
  ChannelGraph& ring = host.nccl_graphs[0];
  ring.channels.assign(3, ring.channels[0]);
  ring.cross_nic.value = true;
  EXPECT_THAT(show_graphs(host),
              testing::HasSubstr("(PXB), across NICs\n  mlx5_0 → GPU0 → GPU1 → mlx5_0  × 3\n"));
}

TEST(ShowGraphs, WithoutAnyThereIsNothing) { EXPECT_EQ(show_graphs(Host{}), ""); }

TEST(Show, PutsTheTreeAndTheAffinityBelowTheSummary) {
  const Host host = read_hwloc_xml(fixture("hwloc2.xml"), "hwloc2.xml");
  EXPECT_EQ(show_topology({{host}}, {}),
            "node1  Example 2000\n"
            "2 × NVIDIA H100 80GB HBM3, 18 NVLinks each, 4 NICs, 2 NUMA nodes\n" +
                show_tree(host) + show_affinity(host));
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
  EXPECT_THAT(show_topology({{host}}, {}), HasSubstr("  fabric manager failed  peer memory none\n"));
}

TEST(Show, SaysWhatIsWrong) {
  Host host;
  host.sources = {{"A", "a", ""}, {"B", "b", ""}};
  host.notes.emplace_back("half of it is hidden");
  host.disagreements.push_back({"GPU 0", "model", "X", 0, "Y", 1});
  EXPECT_THAT(show_topology({{host}}, {}),
              testing::AllOf(HasSubstr("Note: half of it is hidden\n"),
                             HasSubstr("Disagree: GPU 0 model: X (A of a), Y (B of b)\n")));
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

TEST(ShowAffinity, NamesNumaNodeNicAndPeers) {
  EXPECT_EQ(show_affinity(read_hwloc_xml(fixture("hwloc2.xml"), "hwloc2.xml")),
            "Affinity\n"
            "  GPU0    NUMA 0  nearest NIC mlx5_0 (PXB)  18 NVLinks to GPU1\n"
            "  GPU1    NUMA 1  nearest NIC mlx5_1 (PXB)  18 NVLinks to GPU0\n");
}

TEST(ShowAffinity, SaysAllWhereItIsAll) {
  EXPECT_THAT(show_affinity(reference_host(*find_reference_machine("hgx-h100"))),
              HasSubstr("GPU7    NUMA 1  nearest NIC NIC7 (PIX)  18 NVLinks to every other GPU\n"));
}

TEST(ShowAffinity, GroupsPeersByTheirLinks) {
  EXPECT_THAT(
      show_affinity(reference_host(*find_reference_machine("dgx-1v"))),
      HasSubstr("GPU0    NUMA 0  nearest NIC NIC0 (PIX)  2 NVLinks to GPU3, GPU4; 1 NVLink to GPU1, GPU2\n"));
}

TEST(ShowAffinity, GivesCpusWhereTheNumaNodeIsNotKnown) {
  Host host;
  host.gpus.resize(1);
  host.gpus[0].cpu_affinity.value = "0-7";
  EXPECT_EQ(show_affinity(host), "Affinity\n  GPU0    CPUs 0-7\n");
  EXPECT_EQ(show_affinity(Host{}), "");
}

TEST(ShowMatrix, PrintsTheMatrixThatTopoMPrinted) {
  const Host host = read_nvidia_smi_topo(fixture("topo_m.txt"), "topo_m.txt");
  const std::string matrix = show_matrix(host);
  EXPECT_THAT(matrix, HasSubstr("GPU1    NV18    X       SYS     PXB     NODE    NODE\n"));
  EXPECT_THAT(matrix, HasSubstr("mlx5_2  SYS     NODE    SYS     NODE    X       PIX\n"));
  EXPECT_THAT(matrix, testing::Not(HasSubstr("PHB")));  // no word that is not in the table
  EXPECT_THAT(matrix, HasSubstr("  NODE  host bridges of one NUMA node\n"));
}

TEST(ShowMatrix, APathThatIsNotKnownIsAQuestionMark) {
  Host host;
  host.gpus.resize(2);
  EXPECT_THAT(show_matrix(host), HasSubstr("GPU1  ?     X\n"));
}

TEST(ShowMatrix, CountsTheLinksOfACubeMesh) {
  EXPECT_THAT(show_matrix(reference_host(*find_reference_machine("dgx-1v"))),
              HasSubstr("GPU0  X     NV1   NV1   NV2   NV2   SYS   SYS   SYS   PIX"));
}

}  // namespace

}  // namespace collbench::topology::show_test
