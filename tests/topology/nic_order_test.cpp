#include "topology/nic_order.hpp"

#include <gmock/gmock.h>

#include "tests/topology/two_ports_at_one_address.hpp"

namespace collbench::nic_order_test {
namespace {

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
}  // namespace collbench::nic_order_test
