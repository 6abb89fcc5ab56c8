#include "topology/readers/nvidia_smi/fields.hpp"

#include <gtest/gtest.h>

#include "topology/readers/readers.hpp"

namespace collbench::topology::fields_test {
namespace {

TEST(NvidiaSmiFailure, IsKnownByNvidiaSmisWords) {
  const auto error = find_nvidia_smi_error(clean_lines("x\nNVIDIA-SMI has failed because it couldn't\n"));
  ASSERT_TRUE(error);
  EXPECT_EQ(error->number, 2);
  EXPECT_FALSE(find_nvidia_smi_error(clean_lines("all is well\n")));
}

TEST(NvidiaSmiFailure, IsTheReasonBeforeWhatIsMissing) {
  const Error missing = usage_error("F", "no table found", "save it again");
  EXPECT_EQ(without_nvidia_smi_output(clean_lines("all is well\n"), "F", missing).where(), "F");
  const Error failed = without_nvidia_smi_output(clean_lines("x\nNo devices were found\n"), "F", missing);
  EXPECT_EQ(describe(failed),
            "collbench: F:2: nvidia-smi failed: 'No devices were found'; run nvidia-smi by hand and fix "
            "that first");
}

TEST(NvidiaSmiFields, ManyWordsMeanNotKnown) {
  for (const char* text : {"", " ", "N/A", "[N/A]", "[Not Supported]", "[Unknown Error]"})
    EXPECT_FALSE(known_field(text)) << text;
  EXPECT_EQ(known_field(" Enabled "), "Enabled");
}

TEST(NvidiaSmiFields, MemoryIsInMebibytes) {
  EXPECT_EQ(memory_bytes("81559 MiB"), std::uint64_t{81559} << 20U);
  EXPECT_EQ(memory_bytes("81559"), std::uint64_t{81559} << 20U);
  EXPECT_FALSE(memory_bytes("lots"));
  EXPECT_FALSE(memory_bytes("-1 MiB"));
  EXPECT_FALSE(memory_bytes(std::nullopt));
}

TEST(NvidiaSmiFields, SwitchesAreOnOrOffOrNotKnown) {
  EXPECT_EQ(switched_on("Enabled"), true);
  EXPECT_EQ(switched_on("Disabled"), false);
  EXPECT_FALSE(switched_on("Perhaps"));
}

TEST(NvidiaSmiFields, LinksHaveAGenerationAndAWidth) {
  const PcieLink link = pcie_link("5", "16x");
  EXPECT_EQ(link.gigatransfers_per_second.value, 32);
  EXPECT_EQ(link.width.value, 16);
  EXPECT_EQ(pcie_link("4", "8").width.value, 8);
  EXPECT_FALSE(pcie_link("0", "65x").gigatransfers_per_second.known());
  EXPECT_FALSE(pcie_link("0", "65x").width.known());
}

TEST(NvidiaSmiFields, IdsAreTheDeviceAndThenTheVendor) {
  Fact<std::string> vendor;
  Fact<std::string> device;
  for (const char* nothing : {"0x0", "123456789", "x"}) {
    read_pci_device_id(nothing, vendor, device);
    EXPECT_FALSE(vendor.known() || device.known()) << nothing;
  }
  read_pci_device_id("0x233010DE", vendor, device);
  EXPECT_EQ(vendor.value, "0x10de");
  EXPECT_EQ(device.value, "0x2330");
}

}  // namespace

}  // namespace collbench::topology::fields_test
