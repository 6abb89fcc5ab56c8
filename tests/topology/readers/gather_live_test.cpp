// The live gatherer over a folder that is laid out like /sys and stand-ins for the programs.
#include "topology/readers/gather_live.hpp"

#include <gmock/gmock.h>

#include "tests/source_folder.hpp"
#include "tests/topology/fixture.hpp"
#include "tests/topology/foreign_leaks.hpp"
#include "tests/topology/readers/sysfs/sysfs_tree.hpp"

namespace collbench::topology::gather_live_test {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::Each;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

const std::string kFixtures = source_folder() + "/tests/topology/fixtures/";

/// The machine of the fixtures, live.
class GatherLive : public testing::Test {
 protected:
  GatherLive() {
    tree_.pci_function("0000:18:00.0", "pci0000:15/0000:18:00.0", "0x030200", "0x10de");
    tree_.pci_function("0000:9a:00.0", "pci0000:97/0000:9a:00.0", "0x030200", "0x10de");
    tree_.write("module/nvidia/version", "550.54.15");
    tree_.write("module/nvidia_peermem/refcnt", "0");
    sources_.sysfs = tree_.root();
    sources_.hwloc = false;  // it would describe the machine that the test runs on
    sources_.nvidia_smi = tree_.script("nvidia-smi",
                                       "case \"$*\" in\n"
                                       "'-q -x') cat " +
                                           kFixtures +
                                           "query.xml ;;\n"
                                           "'topo -m') cat " +
                                           kFixtures +
                                           "topo_m.txt ;;\n"
                                           "'nvlink -s') cat " +
                                           kFixtures +
                                           "nvlink_s.txt ;;\n"
                                           "*) exit 255 ;;\nesac");
    sources_.systemctl = tree_.script("systemctl", "echo active");
  }

  /// Its notes that speak of programs.
  std::vector<std::string> notes_with_nvidia_smi(const std::string& lines) {
    sources_.nvidia_smi = tree_.script("other-nvidia-smi", lines);
    std::vector<std::string> notes;
    for (const std::string& note : texts(gather_live(sources_).notes)) {
      if (note.find("is hidden or empty") == std::string::npos) notes.push_back(note);
    }
    return notes;
  }

  SysfsTree tree_;
  LiveSources sources_;
};

TEST_F(GatherLive, MergesEverySourceByItsKeys) {
  const Host host = gather_live(sources_);
  ASSERT_EQ(host.gpus.size(), 2U);
  EXPECT_EQ(host.gpus[0].pci_address.value, "0000:18:00.0");
  EXPECT_EQ(host.gpus[0].uuid.value, "GPU-11111111-2222-3333-4444-555555555550");
  EXPECT_EQ(host.gpus[0].nvlinks_active.value, 18);
  EXPECT_FALSE(host.stated_paths.empty());
  EXPECT_EQ(host.fabric_manager.value, "active");
  EXPECT_EQ(host.peer_memory.value, "nvidia_peermem");
  EXPECT_EQ(host.driver_version.value, "550.54.15");
  EXPECT_TRUE(host.name.known());
  EXPECT_THAT(host.disagreements, IsEmpty());
  EXPECT_THAT(texts(host.notes), Each(HasSubstr("is hidden or empty")));  // the tree has no class/
}

TEST_F(GatherLive, AHangingNvidiaSmiIsAskedOnce) {
  sources_.seconds_per_program = 0.2;
  EXPECT_THAT(notes_with_nvidia_smi("echo x >> " + (tree_.root() / "asked").string() + "; sleep 1000"),
              testing::ElementsAre(
                  AllOf(HasSubstr("nvidia-smi -q -x: timed out after 0.2 s"), HasSubstr("not run again"))));
  EXPECT_EQ(std::filesystem::file_size(tree_.root() / "asked"), 2U);
}

TEST_F(GatherLive, AFailingNvidiaSmiIsQuotedOnce) {
  EXPECT_THAT(
      notes_with_nvidia_smi("echo \"NVIDIA-SMI has failed because\"; exit 9"),
      testing::ElementsAre(AllOf(HasSubstr("exit status 9"), HasSubstr("NVIDIA-SMI has failed because"))));
}

TEST_F(GatherLive, AnErrorOnStdoutIsNoTable) {
  const auto notes = notes_with_nvidia_smi("echo 'ERROR: Option -m is missing its value'; exit 0");
  EXPECT_THAT(notes, Contains(HasSubstr("nvidia-smi topo -m: ")));
  EXPECT_EQ(notes.size(), 3U);
}

TEST_F(GatherLive, NonsenseIsSaidAndTheRestIsThere) {
  EXPECT_THAT(notes_with_nvidia_smi("head -c 1000 /dev/urandom"), Contains(HasSubstr("nvidia-smi -q -x: ")));
  EXPECT_EQ(gather_live(sources_).gpus.size(), 2U);
}

TEST_F(GatherLive, SilenceAboutNvlinkMeansNone) {
  EXPECT_THAT(notes_with_nvidia_smi("case $1 in nvlink) ;; -q) cat " + kFixtures + "query.xml ;; *) cat " +
                                    kFixtures + "topo_m.txt ;; esac"),
              IsEmpty());
}

TEST_F(GatherLive, AMissingNvidiaSmiSaysHowToGetIt) {
  sources_.nvidia_smi = "collbench-no-such-program";
  EXPECT_THAT(texts(gather_live(sources_).notes),
              Contains(AllOf(HasSubstr("No such file"), HasSubstr("--gpus all"))));
  sources_.sysfs = "/nonexistent";
  const Host host = gather_live(sources_);
  EXPECT_THAT(texts(host.notes), Contains(HasSubstr("no NVIDIA GPU on the PCI bus")));
  EXPECT_THAT(texts(host.notes), Contains(HasSubstr("no PCI tree")));
}

TEST_F(GatherLive, GpusThatNvidiaSmiMayNotSeeAreSaid) {
  tree_.pci_function("0000:05:00.0", "pci0000:00/0000:05:00.0", "0x030200", "0x10de");
  const Host host = gather_live(sources_);
  ASSERT_EQ(host.gpus.size(), 3U);
  EXPECT_FALSE(host.gpus[2].uuid.known()) << "nvidia-smi's tables belong to the GPUs that it sees";
  EXPECT_THAT(texts(host.notes), Contains(HasSubstr("nvidia-smi sees 2 of the 3 GPUs")));
}

TEST_F(GatherLive, TheFabricManagerIsAskedForWhereGpusAre) {
  sources_.systemctl = tree_.script("inactive", "echo inactive; exit 3");
  EXPECT_EQ(gather_live(sources_).fabric_manager.value, "inactive");
  sources_.systemctl =
      tree_.script("container", "echo 'System has not been booted with systemd' >&2; exit 1");
  EXPECT_THAT(texts(gather_live(sources_).notes),
              Contains(AllOf(HasSubstr("fabric manager"), HasSubstr("not been booted"))));
  sources_.sysfs = "/nonexistent";
  sources_.nvidia_smi = "collbench-no-such-program";
  EXPECT_THAT(texts(gather_live(sources_).notes), Each(Not(HasSubstr("fabric manager"))));
}

TEST_F(GatherLive, AllProgramsShareOneBudget) {
  sources_.seconds = 0;
  EXPECT_THAT(texts(gather_live(sources_).notes), Contains(HasSubstr("timed out after 0 s")));
}

TEST(GatherLiveHere, LooksAtThisMachine) {
  const ForeignLeaks foreign;
  const Host host = gather_live();
  EXPECT_FALSE(host.numa_nodes.empty());
  EXPECT_FALSE(host.sources.empty());
}

}  // namespace
}  // namespace collbench::topology::gather_live_test
