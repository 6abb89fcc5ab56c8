#include "topology/render/matrix.hpp"

#include <gmock/gmock.h>

#include "tests/topology/fixture.hpp"
#include "topology/machines/reference_machines.hpp"
#include "topology/readers/readers.hpp"

namespace collbench::topology::matrix_test {
namespace {

using testing::HasSubstr;

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

using testing::HasSubstr;

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

}  // namespace collbench::topology::matrix_test
