#include "topology/show_matrix.hpp"

#include <gmock/gmock.h>

#include "tests/topology/fixture.hpp"
#include "topology/nvidia_smi_topo.hpp"
#include "topology/reference_machines.hpp"

namespace collbench::show_matrix_test {
namespace {

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
}  // namespace collbench::show_matrix_test
