#include "topology/readers/nccl/topology_xml.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "tests/topology/fixture.hpp"
#include "tests/topology/refusal.hpp"
#include "topology/graph/path.hpp"
#include "topology/readers/readers.hpp"

namespace collbench::topology::topology_xml_test {
namespace {

using testing::ElementsAre;

constexpr const char* kGpuClass = "0x030200";
constexpr const char* kSwitchClass = "0x068000";

Device gpu(int index) { return {DeviceKind::gpu, index}; }
Device nvswitch(int index) { return {DeviceKind::nvswitch, index}; }

/// Two GPUs, and a link of the first.
Host host_with(const std::optional<std::string>& target, const std::string& target_class) {
  Host host;
  host.gpus.resize(2);
  host.gpus[0].pci_address.value = "0000:18:00.0";
  host.gpus[1].pci_address.value = "0000:9a:00.0";
  const WrittenNvLink link{gpu(0), target, target_class, {4}, "D.xml:5"};
  add_nvlinks({link, link}, host);
  return host;
}

TEST(NcclNvLinks, LeadToAGpuOfTheFileWhateverItsClassIsCalled) {
  for (const char* written : {kGpuClass, ""}) {
    const Host host = host_with("0000:9a:00.0", written);
    const NvLinkBundle bundle{gpu(0), gpu(1), {4}, {}};
    EXPECT_THAT(host.nvlinks, ElementsAre(bundle, bundle));
    EXPECT_EQ(host.gpus.size(), 2U);
    EXPECT_TRUE(host.notes.empty());
  }
}

TEST(NcclNvLinks, LeadToAGpuOutsideTheCommunicator) {
  const Host host = host_with("0000:aa:00.0", kGpuClass);
  EXPECT_EQ(host.nvlinks.at(1).to, gpu(2));
  ASSERT_EQ(host.gpus.size(), 3U) << "one device for both links";
  EXPECT_EQ(host.gpus[2].pci_address.value, "0000:aa:00.0");
}

TEST(NcclNvLinks, LeadToASwitchSeenOrHidden) {
  const Host seen = host_with("0000:1c:00.0", kSwitchClass);
  EXPECT_EQ(seen.nvlinks.at(1).to, nvswitch(0));
  ASSERT_EQ(seen.nvswitches.size(), 1U);
  EXPECT_EQ(seen.nvswitches[0].pci_address.value, "0000:1c:00.0");
  const Host hidden = host_with(std::nullopt, kSwitchClass);
  EXPECT_EQ(hidden.nvlinks.at(1).to, nvswitch(0));
  ASSERT_EQ(hidden.nvswitches.size(), 1U);
  EXPECT_FALSE(hidden.nvswitches[0].pci_address.known());
}

TEST(NcclNvLinks, ALinkToItselfIsKeptAndSaid) {
  const Host host = host_with("0000:18:00.0", kGpuClass);
  EXPECT_EQ(host.nvlinks.size(), 2U);
  EXPECT_EQ(host.notes.at(0).text, "D.xml:5: an NVLink of 0000:18:00.0 loops back to itself");
}

TEST(NcclNvLinks, ALinkToSomethingElseIsLeftOutAndSaid) {
  const Host host = host_with("0000:19:00.0", "0x020000");
  EXPECT_TRUE(host.nvlinks.empty());
  EXPECT_EQ(host.notes.at(0).text,
            "D.xml:5: an NVLink leads to 0000:19:00.0 of class '0x020000', which is neither a GPU nor an "
            "NVSwitch; ignored");
}

using testing::HasSubstr;

Host read(const std::string& text) { return read_nccl_topology_xml(text, "D.xml"); }

TEST(NcclTopologyXml, ReadsADump) {
  const Host host = read(fixture("nccl_topology.xml"));
  ASSERT_EQ(2U, host.numa_nodes.size());
  EXPECT_EQ("32-63", host.numa_nodes[1].cpus.value);
  EXPECT_EQ(143, host.numa_nodes[1].cpu_model.value);
  EXPECT_EQ(11U, host.pci_devices.size());
  ASSERT_EQ(2U, host.gpus.size());
  EXPECT_EQ(90, host.gpus[1].sm.value);
  EXPECT_EQ(1, host.gpus[1].index.value);
  EXPECT_EQ(true, host.gpus[1].gpudirect.value);
  ASSERT_EQ(4U, host.nics.size());
  EXPECT_EQ("mlx5_3", host.nics[3].name.value);
  EXPECT_EQ(200, host.nics[3].ports.at(0).gigabits_per_second.value);
  EXPECT_EQ(2, host.nics[3].ports[0].number);
  // NCCL prints the bytes of the GUID the other way round: 946dae is Mellanox' own prefix.
  EXPECT_EQ("0x946dae03006dbe50", host.nics[3].system_guid.value);
  ASSERT_EQ(2U, host.nvlinks.size());
  EXPECT_EQ(18, host.nvlinks[0].count.value);
}

TEST(NcclTopologyXml, ReadsAProvidersFileWithoutGpuAndNetElements) {
  const Host host = read(
      R"(<system version="1"><cpu numaid="0" affinity="ff">
           <pci busid="ffff:ff:01.0" class="0x060400" link_speed="16 GT/s" link_width="16">
             <pci busid="0001:00:00.0" class="0x030200" link_speed="" link_width="0"/>
             <pci busid="0101:00:00.0" class="0x020700" link_speed="16 GT/s" link_width="16"/>
           </pci></cpu></system>)");
  ASSERT_EQ(1U, host.gpus.size());
  ASSERT_EQ(1U, host.nics.size());
  EXPECT_EQ(PathType::pix, path_between(host, {DeviceKind::gpu, 0}, {DeviceKind::nic, 0})->type);
  EXPECT_FALSE(host.pci_devices.at(1).link_max.width.known());  // 0 and "" are not known
  EXPECT_EQ(16, host.pci_devices.at(2).link_max.gigatransfers_per_second.value);
}

TEST(NcclNvLinks, AnAddressOfOnesAloneIsAHiddenSwitch) {
  for (const char* hidden : {"fffffff:ffff:ff", "fffffff:ff:ff.0", "ffffffff:ff:ff.0", "FFFFFFF:FF:FF.0",
                             "ffffffff:ff:ff", "ffffffff:ffff:ff.f"})
    EXPECT_TRUE(is_hidden_nvswitch(hidden)) << hidden;
  for (const char* other :
       {"", "fffffff", "0000:c7:00.0", "ffff:ff:2a.0", "ffff:ff:ff.0", "fffffff:fe:ff.0", "0fffffff:ff:ff.0"})
    EXPECT_FALSE(is_hidden_nvswitch(other)) << other;
}

class HiddenSwitch : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Addresses, HiddenSwitch,
                         testing::Values("fffffff:ffff:ff", "fffffff:ff:ff.0", "ffffffff:ff:ff.0"));

TEST_P(HiddenSwitch, IsOneWithoutAddress) {
  const std::string link = fmt::format(R"(<nvlink target="{}" count="18" tclass="0x068000"/>)", GetParam());
  const Host host = read(R"(<system version="1"><cpu numaid="0">
      <pci busid="0000:0f:00.0" class="0x030200" vendor="0x10de"><gpu dev="0" sm="90">)" +
                         link + R"(</gpu></pci>
      <pci busid="0000:10:00.0" class="0x030200" vendor="0x10de"><gpu dev="1" sm="90">)" +
                         link + R"(</gpu></pci>
      </cpu></system>)");
  ASSERT_EQ(1U, host.nvswitches.size());
  EXPECT_FALSE(host.nvswitches[0].pci_address.known());
  EXPECT_EQ(18, nvlinks_between(host, {DeviceKind::gpu, 0}, {DeviceKind::gpu, 1}));
}

TEST(NcclTopologyXml, CountsTheLinksToEverySwitch) {
  const Host host = read(
      R"(<system version="1"><cpu numaid="0">
           <pci busid="0000:0f:00.0" class="0x030200" vendor="0x10de"><gpu dev="0" sm="90">
             <nvlink target="0000:1c:00.0" count="5" tclass="0x068000"/>
             <nvlink target="0000:1d:00.0" count="4" tclass="0x068000"/><xgmi/></gpu></pci>
           <pci busid="0000:2f:00.0" class="0x030200" vendor="0x10de"><gpu dev="1" sm="90">
             <nvlink target="0000:1c:00.0" count="3" tclass="0x068000"/></gpu></pci></cpu></system>)");
  EXPECT_EQ(2U, host.nvswitches.size());
  EXPECT_EQ(9, nvlinks_of(host, {DeviceKind::gpu, 0}));
  EXPECT_EQ(3, nvlinks_between(host, {DeviceKind::gpu, 0}, {DeviceKind::gpu, 1}));
  EXPECT_THAT(texts(host.notes), testing::ElementsAre("1 <xgmi> ignored: unknown to this reader"));
}

TEST(NcclTopologyXml, SaysWhatIsNotBelievable) {
  const std::string whole = fixture("nccl_topology.xml");
  EXPECT_THAT(read(with(whole, "speed=\"400000\"", "speed=\"200000000\"")).notes.at(0).text,
              HasSubstr("D.xml:14: a speed of 200000000 Mb/s is implausible"));
  const Host without = read(with(whole, "speed=\"400000\"", "speed=\"0\""));
  EXPECT_THAT(without.notes.at(0).text, HasSubstr("D.xml:14: a speed of 0 Mb/s is none: taken as not known"));
  EXPECT_THAT(read(with(whole, "target=\"0000:9a:00.0\"", "target=\"0000:18:00.0\"")).notes.at(0).text,
              HasSubstr("an NVLink of 0000:18:00.0 loops back to itself"));
}

TEST(NcclTopologyXml, RefusesDamage) {
  const auto refused = [](const std::string& text) { return refusal([&] { (void)read(text); }); };
  const std::string whole = fixture("nccl_topology.xml");
  EXPECT_THAT(refused(whole.substr(0, 1200)), HasSubstr("this is not XML"));
  EXPECT_THAT(refused(with(whole, "busid=\"0000:16:00.0\"", "busid=\"16\"")),
              HasSubstr("D.xml:3: <pci>: busid=\"16\" is not a PCI address"));
  EXPECT_THAT(refused(with(whole, "busid=\"0000:9a:00.0\"", "busid=\"0000:18:00.0\"")),
              HasSubstr("is listed twice"));
  EXPECT_THAT(refused(with(whole, "sm=\"90\"", "sm=\"many\"")), HasSubstr("sm=\"many\" is not a number"));
  EXPECT_THAT(refused(with(whole, "affinity=\"00000000,ffffffff\"", "affinity=\"all\"")),
              HasSubstr("is not a CPU mask"));
  EXPECT_THAT(refused("<system version=\"1\"><cpu numaid=\"0\"/></system>"),
              HasSubstr("it describes no device"));
}

}  // namespace

}  // namespace collbench::topology::topology_xml_test
