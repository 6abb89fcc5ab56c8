#include "topology/readers/sysfs/sysfs.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace collbench::topology::pci_test {
namespace {

using Config = std::vector<std::uint8_t>;

void put_32(Config& config, std::size_t offset, std::uint32_t value) {
  for (std::size_t i = 0; i < 4; ++i) config.at(offset + i) = static_cast<std::uint8_t>(value >> 8 * i);
}

/// Error reporting at 0x100, which leads to ACS at 0x220 with `control`.
Config with_acs(std::uint16_t control) {
  Config config(4096);
  put_32(config, 0x100, 0x0001U | 2U << 16U | 0x220U << 20U);
  put_32(config, 0x220, 0x000DU | 1U << 16U);
  put_32(config, 0x224, 0x007FU | std::uint32_t{control} << 16U);
  return config;
}

TEST(PciConfig, AcsIsOnWhereOneBitTakesRequestsUp) {
  EXPECT_EQ(acs_of_config(with_acs(0x1D)), true);
  EXPECT_EQ(acs_of_config(with_acs(0x01)), true);  // SrcValid alone
  EXPECT_EQ(acs_of_config(with_acs(0x04)), true);  // ReqRedir
  EXPECT_EQ(acs_of_config(with_acs(0x08)), true);  // CmpltRedir
  EXPECT_EQ(acs_of_config(with_acs(0x10)), true);  // UpstreamFwd
  EXPECT_EQ(acs_of_config(with_acs(0x00)), false);
  EXPECT_EQ(acs_of_config(with_acs(0x40)), false);  // DirectTrans lets peers talk
}

TEST(PciConfig, WithoutTheCapabilityOrTheBytesItIsNotKnown) {
  Config none(4096);
  EXPECT_EQ(acs_of_config(none), std::nullopt);
  put_32(none, 0x100, 0x0001U | 2U << 16U);
  EXPECT_EQ(acs_of_config(none), std::nullopt);
  Config cut = with_acs(0x1D);
  for (const std::size_t bytes :
       {std::size_t{0}, kConfigBytesWithoutRoot, std::size_t{256}, std::size_t{0x227}}) {
    cut.resize(bytes);
    EXPECT_EQ(acs_of_config(cut), std::nullopt) << bytes;
  }
}

TEST(PciConfig, AListThatLeadsBackToItselfEnds) {
  Config loop(4096);
  put_32(loop, 0x100, 0x0001U | 0x200U << 20U);
  put_32(loop, 0x200, 0x0002U | 0x100U << 20U);
  EXPECT_EQ(acs_of_config(loop), std::nullopt);
  put_32(loop, 0x100, 0x0001U | 0x040U << 20U);  // below the extended space
  EXPECT_EQ(acs_of_config(loop), std::nullopt);
}

}  // namespace
}  // namespace collbench::topology::pci_test
