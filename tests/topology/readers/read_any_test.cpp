#include "topology/readers/readers.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/topology/fixture.hpp"
#include "tests/topology/refusal.hpp"
#include "topology/graph/topology_json.hpp"

namespace collbench::topology::read_any_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

Topology recognized(const std::string& name) { return read_any_topology(fixture(name), name); }

std::string refused(const std::string& text) {
  return refusal([&] { (void)read_any_topology(text, "FILE"); });
}

TEST(ReadAny, KnowsEachFormatByItsContent) {
  const auto direct = [](auto* read, const std::string& name) {
    return Topology{{read(fixture(name), name)}};
  };
  EXPECT_EQ(recognized("nccl_topology.xml"), direct(&read_nccl_topology_xml, "nccl_topology.xml"));
  EXPECT_EQ(recognized("nccl_graph.xml"), direct(&read_nccl_graph_xml, "nccl_graph.xml"));
  EXPECT_EQ(recognized("hwloc1.xml"), direct(&read_hwloc_xml, "hwloc1.xml"));
  EXPECT_EQ(recognized("hwloc2.xml"), direct(&read_hwloc_xml, "hwloc2.xml"));
  EXPECT_EQ(recognized("topo_m.txt"), direct(&read_nvidia_smi_topo, "topo_m.txt"));
  EXPECT_EQ(recognized("topo_p2p.txt"), direct(&read_nvidia_smi_p2p, "topo_p2p.txt"));
  EXPECT_EQ(recognized("nvlink_s.txt"), direct(&read_nvidia_smi_nvlink, "nvlink_s.txt"));
  EXPECT_EQ(recognized("query.xml"), direct(&read_nvidia_smi_query, "query.xml"));
  EXPECT_EQ(recognized("query_gpu.csv"), direct(&read_nvidia_smi_csv, "query_gpu.csv"));
}

TEST(ReadAny, AHostHasAtMost128Gpus) {
  const auto of_gpus = [](int count) {
    std::string text = "index, name\n";
    for (int i = 0; i < count; ++i) text += fmt::format("{}, NVIDIA H100\n", i);
    return text;
  };
  EXPECT_EQ(read_any_topology(of_gpus(128), "f").hosts.front().gpus.size(), 128U);
  EXPECT_THAT(refused(of_gpus(129)), HasSubstr("a host with 129 GPUs"));
}

TEST(ReadAny, KnowsWhatOnlyADiffNeeds) {
  const std::string seeds = source_folder() + "/tests/fuzz/seeds/";
  const std::string lspci = read_file(seeds + "lspci_fuzz/two_switches");
  const std::string ibstat = read_file(seeds + "ibstat_fuzz/two_devices");
  EXPECT_EQ(read_any_topology(lspci, "FILE"), Topology{{read_lspci(lspci, "FILE")}});
  EXPECT_EQ(read_any_topology(ibstat, "FILE"), Topology{{read_ibstat(ibstat, "FILE")}});
  // Two functions without a name and two devices without an address are two NICs.
  EXPECT_EQ(read_any_topology(lspci + ibstat, "FILE").hosts.at(0).nics.size(), 2U);
}

TEST(ReadAny, KnowsWhatWeSaved) {
  const Topology topology = recognized("nccl_topology.xml");
  EXPECT_EQ(read_any_topology(save_topology(topology), "saved.json"), topology);
}

TEST(ReadAny, MergesTheOutputsOfSeveralCommandsInOneFile) {
  const Host matrix = recognized("topo_m.txt").hosts.at(0);
  const Host both =
      read_any_topology(fixture("topo_m.txt") + "\n" + fixture("nvlink_s.txt"), "both.txt").hosts.at(0);
  ASSERT_FALSE(matrix.gpus.empty());
  EXPECT_FALSE(matrix.gpus[0].uuid.known());
  EXPECT_TRUE(both.gpus.at(0).uuid.known());        // from the listing of links
  EXPECT_EQ(both.nics.size(), matrix.nics.size());  // from the matrix
}

TEST(ReadAny, SaysWhatAFileIsThatIsNearButWrong) {
  EXPECT_THAT(refused("==============NVSMI LOG=============="),
              HasSubstr("save its XML instead (nvidia-smi -q -x)"));
  EXPECT_THAT(refused("nvbandwidth Version: v0.4"), HasSubstr("the output of nvbandwidth"));
  EXPECT_THAT(refused("00:01.0 PCI bridge [0604]: a bridge"), HasSubstr("save lspci -vvv instead"));
}

TEST(ReadAny, SaysWhatItExpectsInsteadOfAnythingElse) {
  EXPECT_THAT(refused("a letter"), AllOf(HasSubstr("does not describe a machine"), HasSubstr("topo -m"),
                                         HasSubstr("give one of: a topology saved by collbench")));
  EXPECT_THAT(refused("{\"a\": 1}"), HasSubstr("does not describe a machine"));
  EXPECT_THAT(refused(""), HasSubstr("empty"));
}

}  // namespace
}  // namespace collbench::topology::read_any_test
