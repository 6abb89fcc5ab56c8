#include "topology/readers/readers.hpp"

#include <gmock/gmock.h>

#include "tests/topology/fixture.hpp"
#include "tests/topology/refusal.hpp"
#include "topology/graph/lookup.hpp"

namespace collbench::topology::topo_test {
namespace {

using testing::HasSubstr;

constexpr Device gpu(int i) { return {DeviceKind::gpu, i}; }
constexpr Device nic(int i) { return {DeviceKind::nic, i}; }

std::string refused(const std::string& text) {
  return refusal([&] { (void)read_nvidia_smi_topo(text, "T.txt"); });
}

PathType type(const Host& host, Device a, Device b) { return *find_stated_path(host, a, b)->type.value; }

TEST(NvidiaSmiTopo, ReadsTabsAnsiAndTheTwoTabsBeforeGpuNumaId) {
  const Host host = read_nvidia_smi_topo(fixture("topo_m.txt"), "T.txt");
  ASSERT_EQ(2U, host.gpus.size());
  EXPECT_EQ(1, host.gpus[1].index.value);
  EXPECT_EQ("32-63", host.gpus[1].cpu_affinity.value);
  EXPECT_EQ("1", host.gpus[1].numa_affinity.value);
  EXPECT_EQ("N/A", host.gpus[1].gpu_numa_node.value);
  ASSERT_EQ(4U, host.nics.size());
  EXPECT_EQ("NIC3", host.nics[3].label.value);
  EXPECT_EQ("mlx5_3", host.nics[3].name.value);
  EXPECT_EQ(18, find_stated_path(host, gpu(0), gpu(1))->nvlinks.value);
  EXPECT_EQ(PathType::pxb, type(host, gpu(0), nic(0)));
  EXPECT_EQ(PathType::node, type(host, gpu(1), nic(2)));
  EXPECT_EQ(PathType::pix, type(host, nic(2), nic(3)));
  EXPECT_EQ(30U, host.stated_paths.size());
}

TEST(NvidiaSmiTopo, ReadsBlanksAndOldWordsAndNicsByName) {
  const Host host = read_nvidia_smi_topo(
      "topo = '''        GPU0    GPU1    mlx4_0  CPU Affinity\n"
      "GPU0     X      SOC     PHB     0-5\n"
      "GPU1    SOC      X      SOC     6-11\n"
      "mlx4_0  PHB     SOC      X\n"
      "\n"
      "ulimit -l\n",
      "T.txt");
  EXPECT_EQ("mlx4_0", host.nics.at(0).name.value);
  EXPECT_FALSE(host.nics[0].label.known());
  EXPECT_EQ(PathType::sys, type(host, gpu(0), gpu(1)));
  EXPECT_EQ("6-11", host.gpus[1].cpu_affinity.value);
}

TEST(NvidiaSmiTopo, EmptyAffinityCellsAreUnknown) {
  const Host host = read_nvidia_smi_topo(
      "\tGPU0\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID\r\nGPU0\t X \t\t0-1\t\tN/A\r\n", "T.txt");
  EXPECT_FALSE(host.gpus.at(0).cpu_affinity.known());
  EXPECT_EQ("0-1", host.gpus[0].numa_affinity.value);
}

TEST(NvidiaSmiTopo, ReadsAPasteThroughJson) {
  const Host host = read_nvidia_smi_topo(
      R"("\t\u001b[4mGPU0\tGPU1\tCPU Affinity\u001b[0m\nGPU0\t X \tNV12\t0-3\nGPU1\tNV12\t X \t0-3\n")",
      "T.txt");
  EXPECT_EQ(12, find_stated_path(host, gpu(0), gpu(1))->nvlinks.value);
}

TEST(NvidiaSmiTopo, NamesTheRowThatHasAnotherNumberOfCells) {
  const std::string whole = fixture("topo_m.txt");
  EXPECT_THAT(refused(with(whole, "NV18\t X \tSYS\tPXB\tNODE\tNODE", "NV18\t X \tSYS\tPXBNODE\tNODE")),
              HasSubstr("T.txt:3: row GPU1, column NIC1: 'PXBNODE' is not a path type"));
  EXPECT_THAT(refused(with(whole, "NV18\t X \tSYS\tPXB\tNODE\tNODE", "NV18\t X \tSYSPXBNODE\tNODE")),
              HasSubstr("T.txt:3: row GPU1 has 8 cells, the header has 9"));
  EXPECT_THAT(refused("        GPU0    GPU1\nGPU0     X      NV1\nGPU1    NV1\n"),
              HasSubstr("T.txt:3: row GPU1 has 1 cells, the header has 2"));
}

TEST(NvidiaSmiTopo, NamesWhatIsDamaged) {
  const std::string whole = fixture("topo_m.txt");
  EXPECT_THAT(refused(with(whole, "GPU0\tGPU1", "GPU0GPU1")), HasSubstr("T.txt:1: 'GPU0GPU1' in the header"));
  EXPECT_THAT(refused(with(whole, "NIC3\tCPU", "NIC3CPU")),
              HasSubstr("T.txt:1: 'NIC3CPU Affinity' in the header"));
  EXPECT_THAT(refused(with(whole, "GPU0\tGPU1", "GPU0\t\tGPU1")),
              HasSubstr("T.txt:1: column 2 of the header is empty"));
  EXPECT_THAT(refused(with(whole, "0-31", "-31,64-95")),
              HasSubstr("T.txt:2: row GPU0, CPU Affinity: '-31,64-95' is not a list of numbers"));
  EXPECT_THAT(refused(with(whole, "\tNV18\tPXB", "\tNVX\tPXB")),
              HasSubstr("T.txt:2: row GPU0, column GPU1: 'NVX'"));
  EXPECT_THAT(refused(with(whole, "NIC0\tPXB", "NIC9\tPXB")),
              HasSubstr("T.txt:4: found row NIC9 where the header has NIC0"));
  EXPECT_THAT(refused(whole.substr(0, whole.find("NIC2\tSYS"))),
              HasSubstr("T.txt:5: the table ends after 4 rows, the header has 6 devices"));
}

TEST(NvidiaSmiTopo, KnowsItsOwnErrorsAndItsNeighbors) {
  EXPECT_THAT(refused(fixture("topo_p2p.txt")), HasSubstr("belongs to nvidia-smi topo -p2p"));
  EXPECT_THAT(refused("NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver.\n"),
              HasSubstr("T.txt:1: nvidia-smi failed: 'NVIDIA-SMI has failed"));
  EXPECT_THAT(refused("hello\n"), HasSubstr("no table found"));
}

}  // namespace
}  // namespace collbench::topology::topo_test
