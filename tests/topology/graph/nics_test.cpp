#include "topology/graph/nics.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/topology/two_ports_at_one_address.hpp"

namespace collbench::topology::nics_test {
namespace {

TEST(Guid, HasOneSpelling) {
  EXPECT_EQ("0xb83fd203002aa358", canonical_guid("b83f:d203:002a:a358"));
  EXPECT_EQ("0xb83fd203002aa358", canonical_guid("0xB83FD203002AA358"));
  EXPECT_EQ("0x0000000000000001", canonical_guid("1"));
}

TEST(Guid, ZeroAndNonsenseAreNone) {
  for (const char* text : {"", "0x0", "0000:0000:0000:0000", "xyz", "b83f:d203:002a:a358:0000", "0x"})
    EXPECT_FALSE(canonical_guid(text)) << text;
}

TEST(Guid, NcclsBytesStandTheOtherWayRound) {
  EXPECT_EQ("0x58a32a0003d23fb8", swap_guid("b83f:d203:002a:a358"));
  EXPECT_EQ("0xb83fd203002aa358", swap_guid(*swap_guid("0xb83fd203002aa358")));
  EXPECT_FALSE(swap_guid("0"));
}

using testing::ElementsAre;

Nic nic(const std::string& address, const std::string& name) {
  Nic made;
  if (!address.empty()) made.pci_address.value = address;
  made.name.value = name;
  return made;
}

TEST(NicOrder, GoesByAddressBeforeName) {
  Host host;
  host.nics = {nic("0000:c1:00.1", "mlx5_0"), nic("0000:19:00.0", "mlx5_2"), nic("0000:c1:00.0", "mlx5_1")};
  EXPECT_THAT(nic_order(host), ElementsAre(1, 2, 0));
}

TEST(NicOrder, GoesByPortAtOneAddress) {
  EXPECT_THAT(nic_order(two_ports_at_one_address()), ElementsAre(0, 1));
  EXPECT_THAT(nic_order(two_ports_at_one_address(true)), ElementsAre(1, 0));
}

TEST(NicOrder, GoesByNameWhereNothingElseIsKnown) {
  Host host;
  host.nics = {nic("", "mlx5_10"), nic("", "mlx5_2"), nic("", "mlx5_1")};
  EXPECT_THAT(nic_order(host), ElementsAre(2, 1, 0));
}

}  // namespace

}  // namespace collbench::topology::nics_test
