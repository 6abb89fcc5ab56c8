#include "topology/catalog/links.hpp"

#include <gtest/gtest.h>

namespace collbench::topology::links_test {
namespace {

TEST(LinkCatalog, PcieAsNcclCounts) {
  EXPECT_EQ(12, pcie_rate(8, 16).gigabytes_per_second);
  EXPECT_EQ(24, pcie_rate(16, 16).gigabytes_per_second);
  EXPECT_EQ(48, pcie_rate(32, 16).gigabytes_per_second);
  EXPECT_EQ(96, pcie_rate(64, 16).gigabytes_per_second);
  EXPECT_NEAR(0.1875, pcie_rate(2.5, 1).gigabytes_per_second, 1e-12);  // the virtual bridge of a VM
  EXPECT_EQ(12, pcie_rate(0, 0).gigabytes_per_second);                 // not known: Gen3 x16
  EXPECT_NEAR(48, pcie_rate_of_coded(63.015385).gigabytes_per_second, 1e-3);
}

TEST(LinkCatalog, BetweenSockets) {
  EXPECT_EQ(22, cpu_interconnect_rate("x86_64", "GenuineIntel", 0x8F).gigabytes_per_second);
  EXPECT_EQ(10, cpu_interconnect_rate("x86_64", "GenuineIntel", 0x6A).gigabytes_per_second);
  EXPECT_EQ(16, cpu_interconnect_rate("x86_64", "AuthenticAMD", 1).gigabytes_per_second);
  EXPECT_EQ(32, cpu_interconnect_rate("ppc64le", "", 0).gigabytes_per_second);
}

TEST(LinkCatalog, GenerationsGoBothWays) {
  for (int generation = 1; generation <= 6; ++generation) {
    EXPECT_EQ(generation, pcie_generation(pcie_gigatransfers(generation)));
  }
  EXPECT_EQ(0, pcie_generation(7));
}

}  // namespace
}  // namespace collbench::topology::links_test
