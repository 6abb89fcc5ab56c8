#include "tools/nccl_plan/simulated_run/ib_hca.hpp"

#include <gtest/gtest.h>

#include "base/error.hpp"

namespace collbench::collectives {
namespace {

TEST(IbHca, NamesAreBeginningsAndPortsAreExact) {
  EXPECT_TRUE(ib_hca_allows("", "mlx5_0", 1));
  EXPECT_TRUE(ib_hca_allows("mlx5", "mlx5_0", 1));
  EXPECT_TRUE(ib_hca_allows("mlx5_1", "mlx5_10", 1));
  EXPECT_FALSE(ib_hca_allows("mlx5_1", "mlx5_0", 1));
  EXPECT_TRUE(ib_hca_allows("mlx4,mlx5_0:2", "mlx5_0", 2));
  EXPECT_FALSE(ib_hca_allows("mlx4,mlx5_0:2", "mlx5_0", 1));
}

TEST(IbHca, EqualsWantsTheWholeName) {
  EXPECT_FALSE(ib_hca_allows("=mlx5_1", "mlx5_10", 1));
  EXPECT_TRUE(ib_hca_allows("=mlx5_1", "mlx5_1", 1));
}

TEST(IbHca, ACaretLeavesOut) {
  EXPECT_FALSE(ib_hca_allows("^mlx5_7", "mlx5_7", 1));
  EXPECT_TRUE(ib_hca_allows("^mlx5_7", "mlx5_6", 1));
  EXPECT_TRUE(ib_hca_allows("^=mlx5_1", "mlx5_10", 1));
}

/// NCCL counts what has a name: without any entry every NIC matches, which a caret turns around.
TEST(IbHca, AListWithoutNamesIsOfAll) {
  EXPECT_TRUE(ib_hca_allows(":1,", "mlx5_0", 2));
  EXPECT_TRUE(ib_hca_allows("=", "mlx5_0", 1));
  EXPECT_FALSE(ib_hca_allows("^", "mlx5_10", 1));
  EXPECT_FALSE(ib_hca_allows("^=,", "mlx5_10", 1));
}

TEST(IbHca, APortThatIsNoNumberIsNobodys) {
  EXPECT_FALSE(ib_hca_allows("mlx5_0:x", "mlx5_0", 1));
  EXPECT_TRUE(ib_hca_allows("mlx5_0:1x", "mlx5_0", 1));
  EXPECT_TRUE(ib_hca_allows("mlx5_0:", "mlx5_0", 2));
  EXPECT_TRUE(ib_hca_allows("mlx5_0:1:7", "mlx5_0", 1));  // rail and plane are of no concern here
}

TEST(IbHca, ABlankIsPartOfAName) { EXPECT_FALSE(ib_hca_allows("mlx5_0, mlx5_1", "mlx5_1", 1)); }

TEST(IbHca, PortsLeaveTheTopologyAndTheirDeviceStays) {
  const std::string xml =
      R"(<system version="1"><cpu numaid="0"><pci busid="a" class="0x020000"><nic>)"
      R"(<net name="mlx5_0" port="1"/><net name="mlx5_0" port="2"/></nic></pci>)"
      R"(<pci busid="b" class="0x020000"><nic><net name="mlx5_1"/></nic></pci></cpu></system>)";
  const std::string left = topology_with_hcas(xml, "^mlx5_0:2,mlx5_1");
  EXPECT_NE(left.find(R"(<net name="mlx5_0" port="1")"), std::string::npos) << left;
  EXPECT_EQ(left.find(R"(port="2")"), std::string::npos) << left;
  EXPECT_EQ(left.find(R"(name="mlx5_1")"), std::string::npos) << left;
  EXPECT_NE(left.find("<nic />"), std::string::npos) << left;
  EXPECT_EQ(topology_with_hcas(xml, "^mlx5_1:1").find(R"(name="mlx5_1")"), std::string::npos);  // port 1
}

TEST(IbHca, APortHasItsRateAndThatOfTheSlowestPcieLinkAbove) {
  const std::string xml =
      R"(<system version="1"><cpu numaid="0"><pci busid="a" class="0x060400" link_speed="32.0 GT/s PCIe" link_width="8">)"
      R"(<pci busid="b" class="0x020000" link_speed="32.0 GT/s PCIe" link_width="16"><nic><net name="mlx5_0" speed="400000"/>)"
      R"(</nic></pci></pci><nic><net name="eth0"/></nic></cpu></system>)";
  const std::vector<HcaPort> ports = hca_ports(xml);
  ASSERT_EQ(ports.size(), 2U);
  EXPECT_DOUBLE_EQ(ports[0].gigabits, 400);
  EXPECT_DOUBLE_EQ(ports[0].pcie_gigabits, 256);
  EXPECT_DOUBLE_EQ(ports[1].gigabits, 0);
  EXPECT_DOUBLE_EQ(ports[1].pcie_gigabits, 0);
}

TEST(IbHca, PortsWithoutANameAreNumbered) {
  const std::string left = topology_with_hcas(
      R"(<system version="1"><nic><net dev="0"/><net dev="1"/><net dev="2"/></nic></system>)", "^sim1");
  EXPECT_NE(left.find(R"(<net dev="0" name="sim0")"), std::string::npos) << left;
  EXPECT_EQ(left.find(R"(dev="1")"), std::string::npos) << left;
  EXPECT_NE(left.find(R"(<net dev="2" name="sim2")"), std::string::npos) << left;
}

TEST(IbHca, WhatIsNoTopologyIsRefused) { EXPECT_THROW((void)topology_with_hcas("text", "mlx5"), Error); }

}  // namespace
}  // namespace collbench::collectives
