#include "topology/pci_class.hpp"

#include <gtest/gtest.h>

namespace collbench::pci_class_test {
namespace {

TEST(PciClass, TellsWhatMattersHere) {
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
}  // namespace collbench::pci_class_test
