#include "topology/graph/pci.hpp"

#include <gtest/gtest.h>

namespace collbench::topology::pci_test {
namespace {

TEST(PciAddress, HasOneSpelling) {
  EXPECT_EQ("0000:9a:00.0", canonical_pci_address("00000000:9A:00.0"));
  EXPECT_EQ("0000:17:00.0", canonical_pci_address("17:00.0"));
  EXPECT_EQ("0000:17:00.0", canonical_pci_address("0000:17:00"));
  EXPECT_EQ("10000:01:1f.7", canonical_pci_address("10000:01:1f.7"));
  EXPECT_EQ("ffff:ff:2a.0", canonical_pci_address("ffff:ff:2a.0"));  // a virtual switch
}

TEST(PciAddress, RefusesTheRest) {
  for (const char* text :
       {"", "17", "0000:17:20.0", "0000:117:00.0", "0000:17:00.0.0", "0x0:17:00.0", "a:b:c:d"}) {
    EXPECT_FALSE(canonical_pci_address(text).has_value()) << text;
  }
}

TEST(PciClass, RecognizesWhatMattersHere) {
  EXPECT_EQ(PciRole::bridge, pci_role("0x060400", "0x8086"));
  EXPECT_EQ(PciRole::gpu, pci_role("0x030200", "0x10de"));
  EXPECT_EQ(PciRole::gpu, pci_role("0x030000", "0x10de"));  // a GeForce is VGA
  EXPECT_EQ(PciRole::nic, pci_role("0x020700", "0x15b3"));
  EXPECT_EQ(PciRole::nic, pci_role("0x020000", "0x1d0f"));
  EXPECT_EQ(PciRole::nvswitch, pci_role("0x068000", "0x10de"));
  EXPECT_EQ(PciRole::gpu, pci_role("0x038000", "0x1002"));
  EXPECT_EQ(PciRole::gpu, pci_role("0x030200", ""));  // providers' files give no vendor
}

TEST(PciClass, LeavesOutTheRest) {
  EXPECT_EQ(PciRole::other, pci_role("0x030000", "0x1a03"));  // a server's console
  EXPECT_EQ(PciRole::other, pci_role("0x030000", "0x1002"));
  EXPECT_EQ(PciRole::other, pci_role("0x030200", "0x8086"));
  EXPECT_EQ(PciRole::other, pci_role("0x068000", "0x8086"));
  EXPECT_EQ(PciRole::other, pci_role("0x010802", "0x144d"));
  EXPECT_EQ(PciRole::other, pci_role("", ""));
}

}  // namespace

}  // namespace collbench::topology::pci_test
