#include "topology/readers/readers.hpp"

#include <gmock/gmock.h>

#include "tests/topology/fixture.hpp"
#include "tests/topology/refusal.hpp"
#include "topology/graph/lookup.hpp"
#include "topology/graph/path.hpp"

namespace collbench::topology::xml_test {
namespace {

using testing::HasSubstr;

Host read(const std::string& text) { return read_hwloc_xml(text, "H.xml"); }

TEST(HwlocXml, ReadsVersion2) {
  const Host host = read(fixture("hwloc2.xml"));
  EXPECT_EQ("node1", host.name.value);
  EXPECT_EQ("Example 2000", host.product.value);
  EXPECT_EQ("2.9.0", host.sources.at(0).version);
  ASSERT_EQ(2U, host.numa_nodes.size());
  EXPECT_EQ("32-63", host.numa_nodes[1].cpus.value);
  EXPECT_EQ(1, host.numa_nodes[1].package.value);
  EXPECT_EQ("GenuineIntel", host.numa_nodes[1].cpu_vendor.value);
  EXPECT_EQ(143, host.numa_nodes[1].cpu_model.value);
  EXPECT_EQ(270582939648U, host.numa_nodes[1].memory_bytes.value);
  ASSERT_EQ(2U, host.gpus.size());
  EXPECT_EQ("0000:9a:00.0", host.gpus[1].pci_address.value);
  EXPECT_EQ(1, host.gpus[1].index.value);
  EXPECT_EQ("GPU-11111111-2222-3333-4444-555555555551", host.gpus[1].uuid.value);
  ASSERT_EQ(4U, host.nics.size());
  EXPECT_EQ("mlx5_3", host.nics[3].name.value);
  EXPECT_EQ("DOWN", host.nics[3].ports.at(0).state.value);
  EXPECT_EQ("0x946dae03006dbe51", host.nics[3].guid.value);
  EXPECT_EQ("0x946dae03006dbe50", host.nics[3].system_guid.value);
  EXPECT_EQ("ib0", host.nics[0].interfaces.value);
}

TEST(HwlocXml, TheArchitectureOfArmIsCalledAsNcclCallsIt) {
  std::string text = fixture("hwloc2.xml");
  const std::string x86 = "name=\"Architecture\" value=\"x86_64\"";
  text.replace(text.find(x86), x86.size(), "name=\"Architecture\" value=\"aarch64\"");
  EXPECT_EQ("arm64", read_hwloc_xml(text, "hwloc2.xml").numa_nodes.at(0).architecture.value);
}

TEST(HwlocXml, LeavesConsolesDisksAndTheirBridgesOut) {
  const Host host = read(fixture("hwloc2.xml"));
  EXPECT_EQ(nullptr, find_pci_device(host, "0000:02:00.0"));
  EXPECT_EQ(nullptr, find_pci_device(host, "0000:00:1c.0"));
  EXPECT_EQ(15U, host.pci_devices.size());
}

TEST(HwlocXml, KnowsHostBridgesAndLinkBandwidth) {
  const Host host = read(fixture("hwloc2.xml"));
  EXPECT_EQ("0000:97", find_pci_device(host, "0000:97:01.0")->host_bridge.value);
  EXPECT_EQ(63.015385, find_pci_device(host, "0000:9a:00.0")->link_now.gigabytes_per_second.value);
  EXPECT_EQ(PathType::node, path_between(host, {DeviceKind::gpu, 1}, {DeviceKind::nic, 2})->type);
}

TEST(HwlocXml, CountsNvlinksByTheDataSheet) {
  const Host host = read(fixture("hwloc2.xml"));
  ASSERT_EQ(2U, host.nvlinks.size());  // the diagonal is none
  EXPECT_EQ(450, host.nvlinks[0].gigabytes_per_second.value);
  EXPECT_EQ(18, host.nvlinks[0].count.value);
}

TEST(HwlocXml, ReadsVersion1) {
  const Host host = read(fixture("hwloc1.xml"));
  ASSERT_EQ(2U, host.numa_nodes.size());
  EXPECT_EQ(8, host.numa_nodes[1].index);
  EXPECT_EQ("POWER9, altivec supported", host.numa_nodes[0].cpu_name.value);
  ASSERT_EQ(1U, host.gpus.size());
  EXPECT_EQ("Tesla V100-SXM2-16GB", host.gpus[0].model.value);
  EXPECT_EQ(0, numa_node_of(host, {DeviceKind::gpu, 0}));
  EXPECT_FALSE(host.pci_devices.at(0).link_now.gigabytes_per_second.known());  // 0.000000
}

TEST(HwlocXml, RefusesDamage) {
  const auto refused = [](const std::string& text) { return refusal([&] { (void)read(text); }); };
  const std::string whole = fixture("hwloc2.xml");
  EXPECT_THAT(refused(whole.substr(0, 5000)), HasSubstr("this is not XML"));
  EXPECT_THAT(refused(with(whole, "450000 1000000", "450000")),
              HasSubstr("has 2 objects and 3 values instead of 4"));
  EXPECT_THAT(refused(with(whole, "900 901", "900 902")), HasSubstr("is not a valid entry"));
  EXPECT_THAT(refused(with(whole, "0000:[15-19]", "0000:[1\u041f-19]")), HasSubstr("is not like \"0000:["));
  // Cut in the middle of a character, ids would be no text any more.
  EXPECT_THAT(refused(with(whole, "0302 [10de:2330]", "0302 [10de:233\u041f]")),
              HasSubstr("is not like \"0302"));
  EXPECT_THAT(refused(with(whole, "cpuset=\"0xffffffff,0x0\" local", "cpuset=\"?\" local")),
              HasSubstr("is not a CPU mask"));
  EXPECT_THAT(refused("<topology version=\"2.0\"></topology>"), HasSubstr("it has no object"));
  EXPECT_THAT(refused("<topology version=\"2.0\"><object type=\"Machine\"/></topology>"),
              HasSubstr("no NUMA node and no CPU"));
}

}  // namespace
}  // namespace collbench::topology::xml_test
