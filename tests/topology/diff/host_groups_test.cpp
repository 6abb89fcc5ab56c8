#include "topology/diff/topology_diff.hpp"

#include <gtest/gtest.h>

#include "topology/machines/reference_machines.hpp"

namespace collbench::topology::host_groups_test {
namespace {

Host node(int number) {
  Host host = reference_host(*find_reference_machine("hgx-h100"));
  host.name.value = "node" + std::to_string(number);
  for (std::size_t i = 0; i < host.nics.size(); ++i)
    host.nics[i].name.value = "mlx5_" + std::to_string(number) + "_" + std::to_string(i);
  return host;
}

TEST(HostGroups, AlikeMachinesAreOneGroupAndTheLargestComesFirst) {
  HostGroups groups;
  Host odd = node(0);
  odd.gpus[2].nvlinks_active.value = 12;
  groups.add(odd, "n0");
  for (int i = 1; i < 4; ++i) groups.add(node(i), "n" + std::to_string(i));
  const std::vector<HostGroup> taken = groups.take();
  ASSERT_EQ(taken.size(), 2U);
  EXPECT_EQ(taken[0].names, (std::vector<std::string>{"n1", "n2", "n3"}));
  EXPECT_EQ(taken[0].first.name.value, "node1");
  EXPECT_EQ(taken[1].names, (std::vector<std::string>{"n0"}));
}

TEST(HostGroups, PermutedNamesOfNicsMakeAGroupOfTheirOwn) {
  Host renumbered = node(1);
  std::swap(renumbered.nics[0].name, renumbered.nics[4].name);
  EXPECT_NE(group_key(node(1)), group_key(renumbered));
  EXPECT_EQ(group_key(node(1)), group_key(node(2)));
}

TEST(HostGroups, AnEqualMachineByItsTextIsNotReadAgain) {
  HostGroups groups;
  EXPECT_FALSE(groups.add_equal("text", "n0"));
  groups.add(node(0), "n0", "text");
  EXPECT_TRUE(groups.add_equal("text", "n1"));
  EXPECT_FALSE(groups.add_equal("another text", "n2"));
  EXPECT_EQ(groups.take().at(0).names, (std::vector<std::string>{"n0", "n1"}));
  EXPECT_FALSE(groups.add_equal("text", "n1"));
}

TEST(HostGroups, WithoutMachinesThereAreNone) { EXPECT_TRUE(HostGroups().take().empty()); }

}  // namespace
}  // namespace collbench::topology::host_groups_test
