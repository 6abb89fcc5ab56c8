#include "topology/machines/resolve.hpp"

#include <gmock/gmock.h>

#include <filesystem>

#include "tests/topology/fixture.hpp"
#include "tests/topology/readers/sysfs/sysfs_tree.hpp"
#include "tests/topology/refusal.hpp"
#include "topology/graph/topology_json.hpp"
#include "topology/machines/reference_machines.hpp"

namespace collbench::topology::resolve_test {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;

std::string refused(const std::string& argument) {
  return refusal([&argument] { static_cast<void>(resolve_machine(argument)); });
}

/// The current directory, while it exists.
class CurrentFolder {
 public:
  explicit CurrentFolder(const std::filesystem::path& folder) : before_(std::filesystem::current_path()) {
    std::filesystem::current_path(folder);
  }
  CurrentFolder(const CurrentFolder&) = delete;
  CurrentFolder& operator=(const CurrentFolder&) = delete;
  CurrentFolder(CurrentFolder&&) = delete;
  CurrentFolder& operator=(CurrentFolder&&) = delete;
  ~CurrentFolder() { std::filesystem::current_path(before_); }

 private:
  std::filesystem::path before_;
};

TEST(ResolveMachine, TakesAFile) {
  const SysfsTree tree;
  const auto file = tree.write("topo.txt", fixture("topo_m.txt"));
  EXPECT_EQ(resolve_machine(file.string()).topology.hosts.at(0).gpus.size(), 2U);
}

TEST(ResolveMachine, TakesTheNameOfAReferenceMachine) {
  EXPECT_EQ(resolve_machine("hgx-h100").topology.hosts.at(0).gpus.size(), 8U);
}

TEST(ResolveMachine, AFileOfAReferenceMachinesNameIsNotThatMachine) {
  const SysfsTree tree;
  tree.write("hgx-h100", fixture("topo_m.txt"));
  const CurrentFolder here(tree.root());
  const ResolvedMachine machine = resolve_machine("hgx-h100");
  EXPECT_EQ(machine.only_host().gpus.size(), 2U);
  EXPECT_EQ(machine.reference, nullptr);
  EXPECT_EQ(named_reference("hgx-h100"), nullptr);
  EXPECT_EQ(resolve_machine("hgx-h200").reference, find_reference_machine("hgx-h200"));
  EXPECT_EQ(named_reference("hgx-h200"), find_reference_machine("hgx-h200"));
}

TEST(ResolveMachine, AFolderOfAReferenceMachinesNameIsNotThatMachine) {
  const SysfsTree tree;
  tree.write("hgx-h100/topo.txt", fixture("topo_m.txt"));
  const CurrentFolder here(tree.root());
  EXPECT_EQ(resolve_machine("hgx-h100").only_host().gpus.size(), 2U);
  EXPECT_EQ(resolve_machine("hgx-h100").reference, nullptr);
  EXPECT_EQ(named_reference("hgx-h100"), nullptr);
}

TEST(ResolveMachine, AFileCalledLiveIsReadByItsPath) {
  const SysfsTree tree;
  tree.write("live", fixture("topo_m.txt"));
  const CurrentFolder here(tree.root());
  EXPECT_EQ(resolve_machine("./live").only_host().gpus.size(), 2U);
  EXPECT_TRUE(names_file("./live"));
  EXPECT_FALSE(names_file("live"));
}

TEST(ResolveMachine, OneHostIsNotSeveralAndNotNone) {
  const ResolvedMachine several{"two.json", {{Host{}, Host{}}}};
  EXPECT_THAT(refusal([&] { static_cast<void>(several.only_host()); }),
              AllOf(HasSubstr("two.json: it describes 2 hosts"), HasSubstr("topo diff")));
  EXPECT_EQ(&several.first_host(), several.topology.hosts.data());
  const ResolvedMachine none{"none.json", {}};
  EXPECT_THAT(refusal([&] { static_cast<void>(none.only_host()); }), HasSubstr("there is no host in it"));
}

TEST(ResolveMachine, TakesACopyOfSysfs) {
  const SysfsTree tree;
  tree.pci_function("0000:18:00.0", "pci0000:15/0000:18:00.0", "0x030200", "0x10de");
  EXPECT_EQ(resolve_machine(tree.root().string()).topology.hosts.at(0).gpus.size(), 1U);
}

TEST(ResolveMachine, MergesTheFilesOfAFolder) {
  const SysfsTree tree;
  tree.write("a_topo.txt", fixture("topo_m.txt"));
  tree.write("b_query.xml", fixture("query.xml"));
  tree.write("c_dmesg.txt", "nothing of the kind");
  tree.write("d_topo.txt", "\tGPU0\tGPU1\nGPU0\t X \n");
  tree.pci_function("0000:18:00.0", "pci0000:15/0000:18:00.0", "0x030200", "0x10de");
  const Topology topology = resolve_machine(tree.root().string()).topology;
  ASSERT_EQ(topology.hosts.size(), 1U);
  const Host& host = topology.hosts[0];
  ASSERT_EQ(host.gpus.size(), 2U);
  EXPECT_TRUE(host.gpus[0].uuid.known());
  EXPECT_FALSE(host.stated_paths.empty());
  EXPECT_THAT(texts(host.notes), Contains(AllOf(HasSubstr("left out"), HasSubstr("c_dmesg.txt"))));
  EXPECT_THAT(texts(host.notes), Contains(AllOf(HasSubstr("left out"), HasSubstr("d_topo.txt:2"))));
}

/// Such as a folder of `collbench doctor save`: it has a dozen files that are no topology.
TEST(ResolveMachine, FilesThatAreLeftOutForOneReasonAreOneNote) {
  const SysfsTree tree;
  tree.write("a_topo.txt", fixture("topo_m.txt"));
  for (const char* name : {"cpus.txt", "limits.txt", "meminfo.txt", "shm.txt", "status.txt"})
    tree.write(name, "nothing of the kind");
  tree.write("environment.txt", "");
  const Topology topology = resolve_machine(tree.root().string()).topology;
  std::vector<std::string> left_out;
  for (const HostNote& note : topology.hosts.at(0).notes)
    if (note.is_left_out) left_out.push_back(note.text);
  EXPECT_THAT(left_out, testing::ElementsAre(
                            HasSubstr("cpus.txt (and 4 like it: limits.txt, meminfo.txt, shm.txt, …): this"),
                            HasSubstr("environment.txt: the file is empty")));
}

TEST(ResolveMachine, TakesACopyOfSysfsBesideFiles) {
  const SysfsTree tree;
  tree.write("query.xml", fixture("query.xml"));
  tree.write("sys/class/net/lo/type", "772");
  EXPECT_EQ(resolve_machine(tree.root().string()).topology.hosts.at(0).sources.size(), 4U);
}

std::string saved_as(const std::string& name) {
  Host host = reference_host(*find_reference_machine("hgx-h100"));
  if (!name.empty()) host.name.value = name;
  return save_topology({{host}});
}

TEST(ResolveMachine, HostNamesThatDifferAreAFleet) {
  const SysfsTree tree;
  tree.write("n1.json", saved_as("n1"));
  tree.write("any.json", saved_as("n2"));
  tree.write("n2.topo.txt", fixture("topo_m.txt"));
  tree.write("topo.txt", fixture("topo_m.txt"));
  const Topology fleet = resolve_machine(tree.root().string()).topology;
  ASSERT_EQ(fleet.hosts.size(), 2U);
  EXPECT_EQ(fleet.hosts[0].name.value, "n1");
  EXPECT_EQ(fleet.hosts[1].name.value, "n2");
  EXPECT_TRUE(fleet.hosts[0].stated_paths.empty());
  EXPECT_FALSE(fleet.hosts[1].stated_paths.empty());
  EXPECT_THAT(texts(fleet.hosts[0].notes),
              Contains(AllOf(HasSubstr("left out"), HasSubstr("topo.txt: it names no host"))));
}

TEST(ResolveMachine, FilesOfOneKindWithoutAHostsNameAreOfAsManyHosts) {
  const SysfsTree tree;
  for (const char* name : {"node1", "node2", "node3"}) {
    tree.write(std::string(name) + ".topo.txt", fixture("topo_m.txt"));
    tree.write(std::string(name) + ".nvlink.txt", fixture("nvlink_s.txt"));
  }
  const Topology fleet = resolve_machine(tree.root().string()).topology;
  ASSERT_EQ(fleet.hosts.size(), 3U);
  EXPECT_EQ(fleet.hosts[2].name.value, "node3");
  EXPECT_EQ(fleet.hosts[2].sources.size(), 2U);
}

TEST(ResolveMachine, FilesOfOneHostAreOneMachine) {
  const SysfsTree tree;
  tree.write("a.json", saved_as("n1"));
  tree.write("b.json", saved_as("n1"));
  tree.write("topo.txt", fixture("topo_m.txt"));
  EXPECT_EQ(resolve_machine(tree.root().string()).topology.hosts.size(), 1U);
}

/// United, the one that is whole would hide what the other lacks.
TEST(ResolveMachine, TwoStatesOfOneHostAreRefused) {
  const SysfsTree tree;
  Host host = reference_host(*find_reference_machine("hgx-h100"));
  host.name.value = "n1";
  tree.write("n1.json", save_topology({{host}}));
  tree.write("n1-again.json", save_topology({{host}}));
  EXPECT_EQ(resolve_machine(tree.root().string()).topology.hosts.size(), 1U);
  Host less = host;
  less.nics.pop_back();
  tree.write("n1-today.json", save_topology({{less}}));
  EXPECT_THAT(refused(tree.root().string()),
              AllOf(HasSubstr("n1-today.json: both are saved from n1"), HasSubstr("lacks devices")));
}

TEST(ResolveMachine, OfAFolderOfFoldersItNamesThem) {
  const SysfsTree tree;
  tree.write("n1/topo.txt", fixture("topo_m.txt"));
  tree.write("n2/topo.txt", fixture("topo_m.txt"));
  EXPECT_THAT(refused(tree.root().string()),
              AllOf(HasSubstr("no files in it, only folders (n1, n2)"), HasSubstr("/*")));
}

// The node whose save failed is the one to look at: none of these is dropped.
TEST(ResolveMachine, OfAFolderOfHostsEveryFileThatCannotBeReadIsNamed) {
  const SysfsTree tree;
  tree.write("n1.json", saved_as("n1"));
  tree.write("n2.json", saved_as("n2"));
  tree.write("n3.json", saved_as("n3").substr(0, 700));
  tree.write("n4.json", "");
  tree.write("n5.json", " \n");
  tree.write("n6.json", "bash: collbench: command not found");
  tree.write("topo.txt", fixture("topo_m.txt"));
  tree.link("n7.json", "nowhere");
  const ResolvedMachine machine = resolve_machine(tree.root().string());
  EXPECT_EQ(machine.topology.hosts.size(), 2U);
  EXPECT_EQ(machine.files.count, 8U);
  EXPECT_EQ(machine.files.read, 2U);
  ASSERT_EQ(machine.files.unreadable.size(), 6U);
  EXPECT_THAT(unreadable_text(machine.files),
              AllOf(HasSubstr("8 files, 6 of which cannot be used: "), HasSubstr("n3.json:"),
                    HasSubstr("the file is cut"), HasSubstr("n4.json, "),
                    HasSubstr("n5.json: the file is empty"), HasSubstr("n6.json: this file"),
                    HasSubstr("n7.json: "), HasSubstr("topo.txt: it names no host")));
  EXPECT_THAT(left_out_notes(machine.files.unreadable), testing::SizeIs(5U));  // two are empty
}

TEST(ResolveMachine, OneSavedMachineBesideDamagedFilesIsWhatIsLeftOfSeveral) {
  const SysfsTree tree;
  tree.write("n1.json", saved_as("n1"));
  EXPECT_TRUE(resolve_machine(tree.root().string()).files.unreadable.empty());
  tree.write("dmesg.txt", "Linux version");
  EXPECT_TRUE(resolve_machine(tree.root().string()).files.unreadable.empty());
  tree.write("n2.json", saved_as("n2").substr(0, 700));
  EXPECT_EQ(resolve_machine(tree.root().string()).files.unreadable.size(), 2U);
}

TEST(ResolveMachine, SoIsOneThatNamesItselfOrThatHasFilesOfItsOwn) {
  const SysfsTree tree;
  tree.write("n1.json", saved_as("n1"));
  tree.write("n1.topo.txt", fixture("topo_m.txt"));
  EXPECT_TRUE(resolve_machine(tree.root().string()).files.unreadable.empty());
  tree.write("n1.dmesg.json", "");  // of the same host
  EXPECT_TRUE(resolve_machine(tree.root().string()).files.unreadable.empty());
  tree.write("n2.json", "");
  EXPECT_EQ(resolve_machine(tree.root().string()).files.unreadable.size(), 2U);
  const SysfsTree named;
  named.write(
      "n1.xml",
      R"(<topology version="2.0"><object type="Machine" cpuset="0x1"><info name="HostName" value="n1"/>)"
      R"(<object type="NUMANode" os_index="0" cpuset="0x1"/></object></topology>)");
  named.write("n2.xml", "<topology");
  EXPECT_EQ(resolve_machine(named.root().string()).files.unreadable.size(), 1U);
}

TEST(ResolveMachine, HiddenFilesAreOfOtherProgramsAndAFileOfSeveralNamelessHostsIsOne) {
  const SysfsTree tree;
  tree.write("n1.json", saved_as("n1"));
  tree.write("n2.json", saved_as("n2"));
  for (const char* hidden : {".DS_Store", ".n1.json.swp", ".nfs00000001"}) tree.write(hidden, "anything");
  EXPECT_TRUE(resolve_machine(tree.root().string()).files.unreadable.empty());
  const Host nameless = reference_host(*find_reference_machine("hgx-h100"));
  tree.write("two.json", save_topology({{nameless, nameless}}));
  const FolderFiles files = resolve_machine(tree.root().string()).files;
  EXPECT_EQ(files.count, 3U);
  EXPECT_EQ(files.read, 2U);
  EXPECT_EQ(files.unreadable.size(), 1U);
}

TEST(ResolveMachine, BesideTheOutputsOfToolsOnOneMachineOtherFilesAreUsual) {
  const SysfsTree tree;
  tree.write("topo.txt", fixture("topo_m.txt"));
  tree.write("dmesg.txt", "Linux version");
  EXPECT_TRUE(resolve_machine(tree.root().string()).files.unreadable.empty());
  tree.write("nvlink.txt", fixture("nvlink_s.txt"));
  EXPECT_TRUE(resolve_machine(tree.root().string()).files.unreadable.empty());
}

TEST(ResolveMachine, SaysWhatMayHaveBeenMeant) {
  EXPECT_THAT(refused("hgx-h10"), AllOf(HasSubstr("hgx-h10: "), HasSubstr("did you mean hgx-h100")));
  EXPECT_THAT(refused("/no/such/file"), HasSubstr("see collbench topo list"));
}

TEST(ResolveMachine, RefusesAFolderWithNothingInIt) {
  const SysfsTree tree;
  EXPECT_THAT(refused(tree.root().string()), HasSubstr("the folder is empty"));
  tree.write("note.txt", "no machine");
  EXPECT_THAT(refused(tree.root().string()),
              AllOf(HasSubstr("no file in it can be read"), HasSubstr("note.txt")));
}

}  // namespace
}  // namespace collbench::topology::resolve_test
