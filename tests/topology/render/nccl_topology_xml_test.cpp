#include "topology/render/render.hpp"

#include <gmock/gmock.h>

#include "tests/topology/fixture.hpp"
#include "topology/machines/reference_machines.hpp"
#include "topology/readers/readers.hpp"

namespace collbench::topology::nccl_topology_xml_test {
namespace {

using testing::HasSubstr;
using testing::UnorderedElementsAreArray;

Host read(const std::string& text) { return read_nccl_topology_xml(text, "D.xml"); }

TEST(WriteNcclTopologyXml, ReadAgainItIsTheSameGraph) {
  const Host host = read(fixture("nccl_topology.xml"));
  EXPECT_EQ(host, read(write_nccl_topology_xml(host)));
}

TEST(WriteNcclTopologyXml, KeepsASwitchThatAVmHides) {
  const Host host = read(R"(<system version="1"><cpu numaid="0">
      <pci busid="0000:0f:00.0" class="0x030200" vendor="0x10de"><gpu dev="0" sm="90">
        <nvlink target="fffffff:ffff:ff" count="18" tclass="0x068000"/></gpu></pci></cpu></system>)");
  EXPECT_THAT(write_nccl_topology_xml(host), HasSubstr("target=\"fffffff:ffff:ff\""));
  EXPECT_EQ(host, read(write_nccl_topology_xml(host)));
}

TEST(WriteNcclTopologyXml, KeepsTheLinksOfAReferenceMachine) {
  for (const char* name : {"dgx-1v", "hgx-h100"}) {
    const Host host = reference_host(*find_reference_machine(name));
    EXPECT_THAT(read(write_nccl_topology_xml(host)).nvlinks, UnorderedElementsAreArray(host.nvlinks)) << name;
  }
}

/// NCCL 2.30 asks for these of every file (src/graph/topo.cc) and ends the job's start without them.
TEST(WriteNcclTopologyXml, HasWhatNcclAsksForWhereNoSourceSaysIt) {
  Host host = reference_host(*find_reference_machine("a3-ultra"));
  for (NumaNode& numa : host.numa_nodes) {
    numa.cpu_vendor.value.reset();
    numa.cpu_family.value.reset();
    numa.cpu_model.value.reset();
  }
  host.nvlinks[0].count.value.reset();
  const std::string text = write_nccl_topology_xml(host);
  EXPECT_THAT(text,
              HasSubstr(R"(affinity="00000000" arch="x86_64" vendor="unknown" familyid="-1" modelid="-1")"));
  const Host again = read(text);
  EXPECT_FALSE(again.numa_nodes[0].cpu_vendor.known());
  EXPECT_FALSE(again.numa_nodes[0].cpu_family.known());
  EXPECT_FALSE(again.numa_nodes[0].cpus.known());
  EXPECT_EQ(again.nvlinks.size() + 1, host.nvlinks.size());  // an <nvlink> without a count is no link to NCCL
}

TEST(WriteNcclTopologyXml, HasTheProcessorsOfEachNumaNode) {
  Host host = reference_host(*find_reference_machine("a3-ultra"));
  host.numa_nodes[0].cpus.value = "0-3,34";
  EXPECT_THAT(write_nccl_topology_xml(host), HasSubstr(R"(numaid="0" affinity="00000004,0000000f")"));
}

TEST(WriteNcclTopologyXml, KeepsTheLinkToTheCpu) {
  const Host host = read(R"(<system version="1"><cpu numaid="0">
      <pci busid="0000:0f:00.0" class="0x030200" vendor="0x10de"><gpu dev="0" sm="90">
        <c2c bw="44712" count="10"/></gpu></pci></cpu></system>)");
  EXPECT_EQ(host, read(write_nccl_topology_xml(host)));
}

}  // namespace
}  // namespace collbench::topology::nccl_topology_xml_test
