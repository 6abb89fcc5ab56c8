#include "topology/readers/readers.hpp"

#include <gmock/gmock.h>

#include "tests/topology/fixture.hpp"
#include "tests/topology/refusal.hpp"

namespace collbench::topology::query_test {
namespace {

using testing::HasSubstr;

Host read(const std::string& text) { return read_nvidia_smi_query(text, "Q.xml"); }

TEST(NvidiaSmiQuery, ReadsGpusAndTheirLinks) {
  const Host host = read(fixture("query.xml"));
  EXPECT_EQ("550.54.15", host.driver_version.value);
  EXPECT_EQ("550.54.15", host.sources.at(0).version);
  EXPECT_EQ("12.4", host.cuda_version.value);
  ASSERT_EQ(2U, host.gpus.size());
  const Gpu& gpu = host.gpus[1];
  EXPECT_EQ(1, gpu.index.value);
  EXPECT_EQ("0000:9a:00.0", gpu.pci_address.value);
  EXPECT_EQ(std::uint64_t{81559} << 20U, gpu.memory_bytes.value);
  EXPECT_EQ(false, gpu.mig.value);
  EXPECT_EQ("Completed", gpu.fabric_state.value);
  EXPECT_EQ("Success", gpu.fabric_status.value);
  EXPECT_EQ("None", gpu.virtualization.value);
  const PciDevice& pci = host.pci_devices.at(1);
  EXPECT_EQ("0x10de", pci.vendor.value);
  EXPECT_EQ("0x2330", pci.device.value);
  EXPECT_EQ(2.5, pci.link_now.gigatransfers_per_second.value);
  EXPECT_EQ(32, pci.link_max.gigatransfers_per_second.value);
  EXPECT_EQ(16, pci.link_max.width.value);
}

TEST(NvidiaSmiQuery, GpusThatAreLeftOutTakeTheIndexAway) {
  const Host host = read(with(fixture("query.xml"), "<attached_gpus>2<", "<attached_gpus>8<"));
  EXPECT_FALSE(host.gpus.at(0).index.known());
  EXPECT_THAT(texts(host.notes), testing::ElementsAre("8 GPUs are attached, the file describes 2"));
}

TEST(NvidiaSmiQuery, RefusesDamage) {
  const auto refused = [](const std::string& text) { return refusal([&] { (void)read(text); }); };
  const std::string whole = fixture("query.xml");
  EXPECT_THAT(refused(whole.substr(0, 900)), HasSubstr("this is not XML"));
  EXPECT_THAT(refused(with(whole, "00000000:9A:00.0", "[REDACTED]")),
              HasSubstr("Q.xml:41: <gpu>: id=\"[REDACTED]\" is not a PCI address"));
  EXPECT_THAT(refused("<nvidia_smi_log></nvidia_smi_log>"), HasSubstr("it has no <gpu>"));
}

}  // namespace
}  // namespace collbench::topology::query_test
