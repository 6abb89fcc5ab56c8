#include "topology/readers/readers.hpp"

#include <gmock/gmock.h>

#include <algorithm>

#include "base/files.hpp"
#include "tests/source_folder.hpp"
#include "tests/topology/refusal.hpp"
#include "topology/graph/lookup.hpp"
#include "topology/graph/path.hpp"

namespace collbench::topology::lspci_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

std::string two_switches() {
  return read_file(source_folder() + "/tests/fuzz/seeds/lspci_fuzz/two_switches");
}

const PciDevice& at(const Host& host, std::string_view address) { return *find_pci_device(host, address); }

TEST(Lspci, ReadsTheTreeByBusNumbers) {
  const Host host = read_lspci(two_switches(), "FILE");
  ASSERT_EQ(host.gpus.size(), 2U);
  ASSERT_EQ(host.nics.size(), 2U);
  EXPECT_EQ(host.nvswitches.size(), 1U);
  EXPECT_EQ(at(host, "0000:18:00.0").parent, "0000:17:00.0");
  EXPECT_EQ(at(host, "0000:17:01.0").parent, "0000:16:00.0");
  EXPECT_EQ(at(host, "0000:15:01.0").parent, "");
  EXPECT_EQ(pci_path_type(host, {DeviceKind::gpu, 0}, {DeviceKind::nic, 0}), PathType::pxb);
  EXPECT_EQ(pci_path_type(host, {DeviceKind::gpu, 0}, {DeviceKind::nic, 1}), PathType::sys);
  EXPECT_EQ(find_pci_device(host, "0000:c0:01.0"), nullptr);  // a disk's
}

TEST(Lspci, ReadsLinksAsTheyAreAndCouldBe) {
  const Host host = read_lspci(two_switches(), "FILE");
  const PciDevice& idle = at(host, "0000:18:00.0");
  EXPECT_EQ(idle.link_now.gigatransfers_per_second.value, 2.5);
  EXPECT_EQ(idle.link_max.gigatransfers_per_second.value, 32);
  EXPECT_EQ(idle.link_now.width.value, 16);
  EXPECT_EQ(at(host, "0000:9a:00.0").link_now.width.value, 8);
  EXPECT_EQ(at(host, "0000:9a:00.0").numa_node.value, 1);
}

TEST(Lspci, ReadsAcsOfBridges) {
  const Host host = read_lspci(two_switches(), "FILE");
  EXPECT_EQ(at(host, "0000:17:00.0").acs.value, false);
  EXPECT_EQ(at(host, "0000:99:00.0").acs.value, true);
  EXPECT_FALSE(at(host, "0000:16:00.0").acs.known());
}

TEST(Lspci, ReadsIdsByNumberAndByName) {
  const Host host = read_lspci(two_switches(), "FILE");
  EXPECT_EQ(at(host, "0000:18:00.0").vendor.value, "0x10de");
  EXPECT_EQ(at(host, "0000:18:00.0").device.value, "0x2330");
  EXPECT_EQ(at(host, "0000:19:00.0").class_code.value, "0x020700");
  EXPECT_EQ(at(host, "0000:19:00.0").device.value, "0x1021");
}

TEST(Lspci, RefusesWhatIsDamaged) {
  EXPECT_THAT(refusal([] { (void)read_lspci("", "FILE"); }), HasSubstr("empty"));
  EXPECT_THAT(refusal([] { (void)read_lspci("18:00.0 3D controller: x\n", "FILE"); }),
              HasSubstr("no device link found"));
  EXPECT_THAT(refusal([] { (void)read_lspci(two_switches() + two_switches(), "FILE"); }),
              AllOf(HasSubstr("FILE:"), HasSubstr("0000:15:01.0 is listed twice")));
  EXPECT_THAT(refusal([] {
                (void)read_lspci("18:00.0 PCI bridge: x\n\tBus: primary=00, secondary=zz, x\n", "FILE");
              }),
              AllOf(HasSubstr("FILE:2"), HasSubstr("names no secondary bus")));
}

TEST(Lspci, ABridgeNeverHangsBelowItself) {
  const std::string loop =
      "18:00.0 PCI bridge: x\n\tBus: primary=00, secondary=18, subordinate=18, x\n\t\tLnkCap: x\n\t\tLnkSta: "
      "x\n";
  EXPECT_EQ(find_inconsistency(read_lspci(loop, "FILE")), "");
}

TEST(Lspci, ABridgeOfAnotherNameStaysInTheTree) {
  std::string text = two_switches();
  text.replace(text.find("PCI bridge", text.find("16:00.0")), 10, "PCI birdge");
  const Host host = read_lspci(text, "FILE");
  EXPECT_EQ(find_inconsistency(host), "");
  EXPECT_EQ(at(host, "0000:17:00.0").parent, "0000:16:00.0");
}

TEST(Lspci, IsKnownByItsLinks) {
  EXPECT_TRUE(kLspciReader.recognizes(ReaderInput(two_switches())));
  EXPECT_FALSE(kLspciReader.recognizes(ReaderInput("18:00.0 3D controller: x")));
}

}  // namespace
}  // namespace collbench::topology::lspci_test
