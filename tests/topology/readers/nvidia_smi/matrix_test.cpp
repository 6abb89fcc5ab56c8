#include "topology/readers/nvidia_smi/matrix.hpp"

#include <gmock/gmock.h>

#include "tests/topology/fixture.hpp"
#include "tests/topology/refusal.hpp"
#include "topology/readers/readers.hpp"

namespace collbench::topology::matrix_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::optional<Matrix> find(const std::string& text) { return find_matrix(clean_lines(text), "F"); }

TEST(NvidiaSmiMatrix, FindsTheTableAmongOtherLines) {
  const auto matrix =
      find("$ nvidia-smi topo -m\n\tGPU0\tNIC0\tCPU Affinity\nGPU0\t X \tPIX\t0-3\nNIC0\tPIX\t X \n\nbye\n");
  ASSERT_TRUE(matrix);
  EXPECT_THAT(matrix->columns, ElementsAre("GPU0", "NIC0"));
  EXPECT_THAT(matrix->extras, ElementsAre("CPU Affinity"));
  ASSERT_EQ(matrix->rows.size(), 2U);
  EXPECT_EQ(matrix->rows[0].label, "GPU0");
  EXPECT_EQ(matrix->rows[0].line, 3);
  EXPECT_THAT(matrix->rows[0].cells, ElementsAre("X", "PIX"));
  EXPECT_THAT(matrix->rows[0].extras, ElementsAre("0-3"));
  EXPECT_THAT(matrix->rows[1].extras, IsEmpty());
  EXPECT_EQ(matrix->last_line, 4);
}

TEST(NvidiaSmiMatrix, IsNotThereWithoutAHeader) {
  EXPECT_FALSE(find(""));
  EXPECT_FALSE(find("GPU 0: NVIDIA H100 (UUID: GPU-1)\n"));
}

TEST(NvidiaSmiMatrix, AnEmptyNumaCellOfOldDriversIsNoDamage) {
  for (const char* text :
       {"\tGPU0\tGPU1\tCPU Affinity\tNUMA Affinity\nGPU0\t X \tSYS\t0-3\nGPU1\tSYS\t X \t4-7\n",
        "\tGPU0\tGPU1\tCPU Affinity\tNUMA Affinity\nGPU0\t X \tSYS\t0-3\t\nGPU1\tSYS\t X \t4-7\t\t\n",
        "   GPU0 GPU1 CPU Affinity NUMA Affinity\nGPU0  X  SYS 0-3\nGPU1 SYS  X  4-7\n"}) {
    const auto matrix = find(text);
    ASSERT_TRUE(matrix) << text;
    ASSERT_EQ(matrix->rows.size(), 2U) << text;
    EXPECT_THAT(matrix->rows[0].extras, ElementsAre("0-3", "")) << text;
    EXPECT_THAT(matrix->rows[1].extras, ElementsAre("4-7", "")) << text;
  }
  // Split at blanks, a number alone may be of either column.
  EXPECT_THAT(refusal([] {
                (void)find("   GPU0 GPU1 CPU Affinity NUMA Affinity\nGPU0  X  SYS 0\nGPU1 SYS  X  1\n");
              }),
              HasSubstr("row GPU0 has 3 cells, the header has 4"));
}

/// Two GPUs of a matrix whose rows end like that.
std::string with_row_end(const std::string& end, const std::string& more_heading = "") {
  return "\tGPU0\tGPU1\tNIC0\tCPU Affinity\tNUMA Affinity" + more_heading + "\nGPU0\t X \tNV1\tPIX\t" + end +
         "\nGPU1\tNV1\t X \tPIX\t" + end + "\nNIC0\tPIX\tPIX\t X \t\t\n";
}

TEST(NvidiaSmiMatrix, TwoTabsBeforeTheLastColumnAreNoDamage) {
  for (const char* node : {"N/A", "0", "0-1"}) {
    for (const char* tabs : {"\t", "\t\t"}) {  // since driver 470, and before
      const auto matrix = find(with_row_end(std::string("0-31") + tabs + node));
      ASSERT_TRUE(matrix);
      EXPECT_THAT(matrix->rows.at(1).extras, ElementsAre("0-31", node));
      const auto newer = find(with_row_end(std::string("0-31\t") + node + tabs + "N/A", "\tGPU NUMA ID"));
      ASSERT_TRUE(newer);
      EXPECT_THAT(newer->rows.at(1).extras, ElementsAre("0-31", node, "N/A"));
    }
  }
  const auto refused = [](const std::string& text) { return refusal([&] { (void)find(text); }); };
  EXPECT_THAT(refused(with_row_end("0-31\t\t\tN/A")), HasSubstr("row GPU0 has 7 cells, the header has 5"));
}

TEST(NvidiaSmiMatrix, AHeadingCutBehindTheDevicesIsKnownByItsRows) {
  const auto matrix = find(
      "     GPU0 GPU1 NIC0 CPU Affinity\nGPU0  X  NV18 PIX 0-3,8 0 N/A\nGPU1 NV18  X  SYS 4-7 1 N/A\n"
      "NIC0 PIX  SYS  X\n");
  ASSERT_TRUE(matrix);
  EXPECT_THAT(matrix->extras, ElementsAre("CPU Affinity", "NUMA Affinity", "GPU NUMA ID"));
  EXPECT_THAT(matrix->rows[1].extras, ElementsAre("4-7", "1", "N/A"));
  const auto refused = [](const std::string& text) { return refusal([&] { (void)find(text); }); };
  EXPECT_THAT(refused("     GPU0 GPU1 CPU Affinity\nGPU0  X  SYS PIX 0-3\nGPU1 SYS  X  SYS 4-7\n"),
              HasSubstr("row GPU0 has 4 cells, the header has 3"));
}

TEST(NvidiaSmiMatrix, AHeadingWithAColumnTwiceIsDamaged) {
  const std::string affinity = "\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID";
  const std::string start = "\tGPU0" + affinity + affinity + "\nGPU0\t X \t";
  for (const char* last : {"0\t0\tN/A\t0\t0\tN/A\n", "0\t0\tN/A\t0\t0\tN/A\tSYS\n"}) {
    EXPECT_THAT(refusal([&] { (void)find(start + last); }),
                HasSubstr("F:1: the header names CPU Affinity twice"));
  }
}

TEST(NvidiaSmiMatrix, NeverGuessesACell) {
  const auto refused = [](const std::string& text) { return refusal([&] { (void)find(text); }); };
  EXPECT_THAT(refused("\tGPU0\tGPU1\nGPU0\t X \nGPU1\tSYS\t X \n"), HasSubstr("F:2: "));
  EXPECT_THAT(refused("\tGPU0\tGPU1\nGPU0\t X \tSYS\n"), HasSubstr("F:"));  // a row is missing
  EXPECT_THAT(refused("\tGPU0\tGPU1CPU Affinity\nGPU0\t X \tSYS\t0\nGPU1\tSYS\t X \t0\n"),
              HasSubstr("F:1: "));
}

using testing::HasSubstr;

TEST(NvidiaSmiP2p, ReadsThePairs) {
  const Host host = read_nvidia_smi_p2p(fixture("topo_p2p.txt"), "P.txt");
  ASSERT_EQ(2U, host.peer_access.size());
  EXPECT_EQ((Device{DeviceKind::gpu, 1}), host.peer_access[0].to);
  EXPECT_EQ("OK", host.peer_access[0].state.value);
}

TEST(NvidiaSmiP2p, RefusesOtherWordsAndOtherShapes) {
  const auto refused = [](const std::string& text) {
    return refusal([&] { (void)read_nvidia_smi_p2p(text, "P.txt"); });
  };
  const std::string whole = fixture("topo_p2p.txt");
  EXPECT_THAT(refused(with(whole, "OK", "PIX")),
              HasSubstr("P.txt:2: row GPU0, column GPU1: 'PIX' is not a state that topo -p2p prints"));
  EXPECT_THAT(refused(with(whole, "\tX\tOK", "\tX")),
              HasSubstr("P.txt:2: row GPU0, column GPU1: '' is not a state that topo -p2p prints"));
  EXPECT_THAT(refused(with(whole, "\tX\tOK", "\tOK\tX")), HasSubstr("P.txt:2: row GPU0, column GPU0"));
}

TEST(NvidiaSmiPathCell, TheNumberOfNvLinksOrATypeOfPath) {
  EXPECT_EQ(parse_path_cell("NV18"), (PathCell{PathType::nvl, 18}));
  EXPECT_EQ(parse_path_cell("SOC"), PathCell{PathType::sys});
  EXPECT_EQ(parse_path_cell("X"), PathCell{PathType::loc});
  for (int i = static_cast<int>(PathType::loc); i <= static_cast<int>(PathType::net); ++i) {
    const auto type = static_cast<PathType>(i);
    const auto word = nvidia_smi_word(type);
    if (!word || type == PathType::nvl) continue;
    EXPECT_EQ(parse_path_cell(*word), PathCell{type}) << *word;
  }
}

TEST(NvidiaSmiPathCell, DamageSaysNothing) {
  for (const char* damage : {"", "NV", "NV0", "NV99", "PIXNODE", "NVL", "LOC", "nv4"}) {
    EXPECT_FALSE(parse_path_cell(damage)) << damage;
  }
}

}  // namespace

}  // namespace collbench::topology::matrix_test
