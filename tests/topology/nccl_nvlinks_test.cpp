#include "topology/nccl_nvlinks.hpp"

#include <gmock/gmock.h>

namespace collbench::nccl_nvlinks_test {
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
  EXPECT_EQ(host.notes.at(0), "D.xml:5: an NVLink of 0000:18:00.0 leads to itself");
}

TEST(NcclNvLinks, ALinkToSomethingElseIsLeftOutAndSaid) {
  const Host host = host_with("0000:19:00.0", "0x020000");
  EXPECT_TRUE(host.nvlinks.empty());
  EXPECT_EQ(
      host.notes.at(0),
      "D.xml:5: an NVLink leads to 0000:19:00.0 of class '0x020000', neither GPU nor NVSwitch; left out");
}

}  // namespace
}  // namespace collbench::nccl_nvlinks_test
