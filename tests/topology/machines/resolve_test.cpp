#include "topology/machines/resolve.hpp"

#include <gmock/gmock.h>

#include "tests/topology/fixture.hpp"
#include "tests/topology/readers/sysfs/sysfs_tree.hpp"
#include "tests/topology/refusal.hpp"

namespace collbench::topology::resolve_test {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;

std::string refused(const std::string& place) {
  return refusal([&place] { static_cast<void>(resolve_machine(place)); });
}

TEST(ReadPlace, TakesAFile) {
  const SysfsTree tree;
  const auto file = tree.write("topo.txt", fixture("topo_m.txt"));
  EXPECT_EQ(resolve_machine(file.string()).hosts.at(0).gpus.size(), 2U);
}

TEST(ReadPlace, TakesTheNameOfAReferenceMachine) {
  EXPECT_EQ(resolve_machine("hgx-h100").hosts.at(0).gpus.size(), 8U);
}

TEST(ReadPlace, TakesACopyOfSysfs) {
  const SysfsTree tree;
  tree.pci_function("0000:18:00.0", "pci0000:15/0000:18:00.0", "0x030200", "0x10de");
  EXPECT_EQ(resolve_machine(tree.root().string()).hosts.at(0).gpus.size(), 1U);
}

TEST(ReadPlace, MergesTheFilesOfAFolder) {
  const SysfsTree tree;
  tree.write("a_topo.txt", fixture("topo_m.txt"));
  tree.write("b_query.xml", fixture("query.xml"));
  tree.write("c_dmesg.txt", "nothing of the kind");
  tree.write("d_topo.txt", "\tGPU0\tGPU1\nGPU0\t X \n");
  tree.pci_function("0000:18:00.0", "pci0000:15/0000:18:00.0", "0x030200", "0x10de");
  const Topology topology = resolve_machine(tree.root().string());
  ASSERT_EQ(topology.hosts.size(), 1U);
  const Host& host = topology.hosts[0];
  ASSERT_EQ(host.gpus.size(), 2U);
  EXPECT_TRUE(host.gpus[0].uuid.known());
  EXPECT_FALSE(host.stated_paths.empty());
  EXPECT_THAT(host.notes, Contains(AllOf(HasSubstr("left out"), HasSubstr("c_dmesg.txt"))));
  EXPECT_THAT(host.notes, Contains(AllOf(HasSubstr("left out"), HasSubstr("d_topo.txt:2"))));
}

TEST(ReadPlace, TakesACopyOfSysfsBesideFiles) {
  const SysfsTree tree;
  tree.write("query.xml", fixture("query.xml"));
  tree.write("sys/class/net/lo/type", "772");
  EXPECT_EQ(resolve_machine(tree.root().string()).hosts.at(0).sources.size(), 4U);
}

TEST(ReadPlace, SaysWhatMayHaveBeenMeant) {
  EXPECT_THAT(refused("hgx-h10"), AllOf(HasSubstr("hgx-h10: "), HasSubstr("did you mean hgx-h100")));
  EXPECT_THAT(refused("/no/such/file"), HasSubstr("see collbench topo list"));
}

TEST(ReadPlace, RefusesAFolderWithNothingInIt) {
  const SysfsTree tree;
  EXPECT_THAT(refused(tree.root().string()), HasSubstr("the folder is empty"));
  tree.write("note.txt", "no machine");
  EXPECT_THAT(refused(tree.root().string()),
              AllOf(HasSubstr("nothing in it is read"), HasSubstr("note.txt")));
}

}  // namespace
}  // namespace collbench::topology::resolve_test
