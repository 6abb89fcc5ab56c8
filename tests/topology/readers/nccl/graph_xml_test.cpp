#include "topology/readers/readers.hpp"

#include <gmock/gmock.h>

#include "tests/topology/fixture.hpp"
#include "tests/topology/refusal.hpp"
#include "topology/graph/merge.hpp"

namespace collbench::topology::graph_xml_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Host read(const std::string& text) { return read_nccl_graph_xml(text, "G.xml"); }

Device gpu(int index) { return {DeviceKind::gpu, index}; }
Device nic(int index) { return {DeviceKind::nic, index}; }

TEST(NcclGraphXml, ReadsADump) {
  const Host host = read(fixture("nccl_graph.xml"));
  ASSERT_EQ(host.nccl_graphs.size(), 3U);
  const ChannelGraph& ring = host.nccl_graphs[0];
  EXPECT_EQ(ring.id, 0);
  EXPECT_EQ(ring.pattern.value, 4);
  EXPECT_EQ(ring.cross_nic.value, false);
  EXPECT_EQ(ring.intra_gigabytes_per_second.value, 24);
  EXPECT_EQ(ring.intra_type.value, PathType::nvl);
  EXPECT_EQ(ring.inter_type.value, PathType::pxb);
  ASSERT_EQ(ring.channels.size(), 4U);
  EXPECT_THAT(ring.channels[1], ElementsAre(nic(1), gpu(1), gpu(0), nic(1)));
  EXPECT_TRUE(host.nccl_graphs[2].channels.empty());
  ASSERT_EQ(host.gpus.size(), 2U);
  EXPECT_EQ(host.gpus[1].index.value, 1);
  EXPECT_EQ(host.gpus[1].nccl_rank.value, 1);
  ASSERT_EQ(host.nics.size(), 2U);
  EXPECT_EQ(host.nics[1].nccl_net.value, 1);
}

std::string one_channel(const std::string& devices) {
  return R"(<graphs version="1"><graph id="0" pattern="4" nchannels="1"><channel>)" + devices +
         "</channel></graph></graphs>";
}

TEST(NcclGraphXml, NumbersAreDecimalWithout0xAsBefore221) {
  const Host old = read(one_channel(R"(<gpu dev="10"/><gpu dev="9"/>)"));
  EXPECT_EQ(old.gpus.at(1).index.value, 10);
  EXPECT_THAT(old.nccl_graphs[0].channels.at(0), ElementsAre(gpu(1), gpu(0)));
  EXPECT_EQ(read(one_channel(R"(<gpu dev="0x10"/>)")).gpus.at(0).index.value, 16);
}

TEST(NcclGraphXml, ANicThatWasNotFoundIsLeftOut) {
  const Host host = read(one_channel(R"(<net dev="0xffffffffffffffff"/><gpu dev="0"/><net dev="-1"/>)"));
  EXPECT_TRUE(host.nics.empty());
  EXPECT_THAT(host.nccl_graphs[0].channels.at(0), ElementsAre(gpu(0)));
}

TEST(NcclGraphXml, ARankThatIsNotKnownIsNone) {
  const Host host = read(one_channel(R"(<gpu dev="0" rank="-1"/><gpu dev="1" rank="0"/>)"));
  EXPECT_FALSE(host.gpus.at(0).nccl_rank.known());
  EXPECT_EQ(host.gpus.at(1).nccl_rank.value, 0);
}

TEST(NcclGraphXml, APathThatIsNotKnownIsNoted) {
  const Host host = read(with(fixture("nccl_graph.xml"), "typeinter=\"PXB\"", "typeinter=\"WIFI\""));
  EXPECT_FALSE(host.nccl_graphs[0].inter_type.known());
  EXPECT_THAT(texts(host.notes),
              ElementsAre(HasSubstr("G.xml:2: typeinter=\"WIFI\" is an unknown path type")));
}

TEST(NcclGraphXml, BesideTheTopologyItNamesItsDevices) {
  const Host host = merge_hosts(
      {read_nccl_topology_xml(fixture("nccl_topology.xml"), "T.xml"), read(fixture("nccl_graph.xml"))});
  ASSERT_EQ(host.gpus.size(), 2U);
  ASSERT_EQ(host.nics.size(), 4U);
  EXPECT_EQ(host.nics[1].name.value, "mlx5_1");
  EXPECT_THAT(host.nccl_graphs.at(0).channels.at(1), ElementsAre(nic(1), gpu(1), gpu(0), nic(1)));
  EXPECT_TRUE(host.disagreements.empty());
}

TEST(NcclGraphXml, RefusesDamage) {
  const auto refused = [](const std::string& text) { return refusal([&] { (void)read(text); }); };
  const std::string whole = fixture("nccl_graph.xml");
  EXPECT_THAT(refused(whole.substr(0, 700)), HasSubstr("this is not XML"));
  EXPECT_THAT(refused(with(whole, "nchannels=\"4\"", "nchannels=\"5\"")),
              HasSubstr("G.xml:2: <graph>: nchannels is 5, but there are 4"));
  EXPECT_THAT(refused(with(whole, "<gpu dev=\"0x1\" rank=\"1\"/>", "")),
              HasSubstr("G.xml:9: <channel>: 2 GPUs and 2 NICs, but the first channel has 1 and 2"));
  EXPECT_THAT(refused(with(whole, "dev=\"0x1\"", "dev=\"one\"")),
              HasSubstr("dev=\"one\" is not a device number"));
  EXPECT_THAT(refused(with(whole, "dev=\"0x1\"", "dev=\"0x200000000000001\"")),
              HasSubstr("is a device of host 2"));
  EXPECT_THAT(refused(with(whole, "id=\"1\"", "id=\"0\"")), HasSubstr("id 0 is listed twice"));
  EXPECT_THAT(refused(with(whole, "speedintra=\"24\"", "speedintra=\"fast\"")),
              HasSubstr("speedintra=\"fast\" is not a number"));
  EXPECT_THAT(refused("<graphs version=\"1\"/>"), HasSubstr("it has no channel through a GPU"));
  EXPECT_THAT(refused(one_channel("<gpu dev=\"-1\"/>")), HasSubstr("this is not a GPU"));
}

}  // namespace
}  // namespace collbench::topology::graph_xml_test
