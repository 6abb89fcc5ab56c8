#include "topology/pci_address.hpp"

#include <gtest/gtest.h>

namespace collbench::pci_address_test {
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

}  // namespace
}  // namespace collbench::pci_address_test
