#include "tools/burnin/command/launches.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>

#include "tools/burnin/command/gpu_phase.hpp"

namespace collbench::program::launches_test {
namespace {

using analysis::BurninPhase;
using testing::ElementsAre;
using testing::IsEmpty;

BurninOptions four_hosts() {
  BurninOptions options;
  options.hosts = {"n0", "n1", "n2", "n3"};
  return options;
}

/// The words before the program.
std::vector<std::string> launcher_of(std::vector<std::string> words) {
  words.erase(std::find(words.begin(), words.end(), core_program_path()), words.end());
  return words;
}

std::string word_after(const std::vector<std::string>& words, const std::string& option) {
  const auto at = std::find(words.begin(), words.end(), option);
  return at == words.end() || at + 1 == words.end() ? "" : *(at + 1);
}

TEST(BurninLaunches, WithoutNvlinkBetweenHostsIsInTheEnvironmentOfItsRanks) {
  analysis::GroupLaunch launch{.phase = BurninPhase::halving, .nodes = {0, 3}};
  const auto has_setting = [&] {
    const std::vector<std::string> words = group_command(four_hosts(), launch, {});
    return std::find(words.begin(), words.end(), "NCCL_MNNVL_ENABLE=0") != words.end();
  };
  EXPECT_FALSE(has_setting());
  launch.without_nvlink = true;
  EXPECT_TRUE(has_setting());
}

// Open MPI would bind the one rank, and its threads with it, to a core.
TEST(BurninLaunches, TheProbeOfGpusMayRunOnAllCores) {
  BurninOptions options = four_hosts();
  EXPECT_THAT(launcher_of(gpu_command(options, 2)),
              ElementsAre("mpirun", "--bind-to", "none", "-np", "1", "--host", "n2:1", "--map-by", "node"));
  options.group_launcher = "mpiexec -np {ranks} --host {slots}";
  EXPECT_THAT(launcher_of(gpu_command(options, 2)),
              ElementsAre("mpiexec", "--bind-to", "none", "-np", "1", "--host", "n2:1"));
  options.group_launcher = "mpirun --bind-to socket -np {ranks} --host {slots}";
  EXPECT_THAT(launcher_of(gpu_command(options, 2)),
              ElementsAre("mpirun", "--bind-to", "socket", "-np", "1", "--host", "n2:1"));
  options.group_launcher = "srun -n {ranks} -w {hosts}";
  EXPECT_THAT(launcher_of(gpu_command(options, 2)), ElementsAre("srun", "-n", "1", "-w", "n2"));
}

TEST(BurninLaunches, ARailIsInTheEnvironmentOfItsRanks) {
  BurninOptions options = four_hosts();
  options.rails = 2;
  options.rail_setting = "NCCL_IB_HCA=mlx5_{rail}";
  EXPECT_THAT(launcher_of(pair_command(options, 0, 3, 1)),
              ElementsAre("mpirun", "-x", "NCCL_IB_HCA=mlx5_1", "-np", "2", "--host", "n0:1,n3:1", "--map-by",
                          "node"));
  for (const char* name :
       {"mpiexec", "orterun", "prterun", "prun", "/opt/openmpi/bin/mpiexec", "mpirun.openmpi"}) {
    options.launcher = fmt::format("{} --host {{a}},{{b}}", name);
    EXPECT_THAT(launcher_of(pair_command(options, 0, 3, 1)),
                ElementsAre(name, "-x", "NCCL_IB_HCA=mlx5_1", "--host", "n0,n3"));
  }
  options.launcher = "ssh head /usr/bin/env A=1 mpirun --host {a},{b}";
  EXPECT_THAT(launcher_of(pair_command(options, 0, 3, 1)),
              ElementsAre("ssh", "head", "/usr/bin/env", "A=1", "mpirun", "-x", "NCCL_IB_HCA=mlx5_1",
                          "--host", "n0,n3"));
  // These hand on what they have.
  for (const char* name : {"srun", "flux", "mpiexec.hydra", "/opt/my-mpirun"}) {
    options.launcher = fmt::format("{} -w {{a}},{{b}}", name);
    EXPECT_THAT(launcher_of(pair_command(options, 0, 3, 1)),
                ElementsAre("env", "NCCL_IB_HCA=mlx5_1", name, "-w", "n0,n3"));
  }
}

TEST(BurninLaunches, RingAndTreeAreForcedInGroupsOfGpus) {
  BurninOptions options = four_hosts();
  analysis::BurninRecord record;
  const analysis::GroupLaunch all{BurninPhase::whole, {0, 1, 2, 3}};
  for (int node = 0; node < 4; ++node) {
    EXPECT_THAT(forced_algorithms(options, record, all), IsEmpty()) << "a host's memory is not known";
    record.groups.push_back({{BurninPhase::nodes, {node}}, "all_reduce", 1, 1, false});
  }
  EXPECT_THAT(forced_algorithms(options, record, all), ElementsAre("ring", "tree"));
  EXPECT_THAT(forced_algorithms(options, record, {BurninPhase::nodes, {0}}), IsEmpty());
  options.group_algorithms = {"nvls"};
  EXPECT_THAT(forced_algorithms(options, record, all), ElementsAre("nvls"));
  const std::vector<std::string> words = group_command(options, all, {"ring", "tree"});
  EXPECT_EQ(word_after(words, "--algo"), "auto,ring,tree");
  EXPECT_EQ(word_after(words, "--time"), "6");  // 3 s for two rows
  EXPECT_EQ(word_after(group_command(options, all, {}), "--algo"), "auto");
  EXPECT_EQ(word_after(group_command(options, all, {}), "--time"), "3");
}

TEST(BurninLaunches, UnderSlurmTheNumberOfNodesIsSaid) {
  BurninOptions options = four_hosts();
  options.group_launcher = kSrunGroups;
  EXPECT_THAT(group_words(options, {1, 3}, 8),
              ElementsAre("srun", "-K", "--overlap", "--mpi=pmix", "-N", "2", "-n", "16", "-w", "n1,n3"));
  options.launcher = kSrunPairs;
  EXPECT_THAT(launcher_of(pair_command(options, 0, 3, -1)),
              ElementsAre("srun", "-K", "--overlap", "--mpi=pmix", "-N", "2", "-n", "2", "-w", "n0,n3"));
  const MisplacedRanks error("--group-launcher", kSrunGroups, {"n1", "n3"}, "a rank ran on n2");
  EXPECT_STREQ(error.what(), "a rank ran on n2, and n1 to n3 were asked for");
  EXPECT_THAT(error.next_step(), testing::HasSubstr("-N {nodes} -n {ranks} -w {hosts}"));
}

}  // namespace
}  // namespace collbench::program::launches_test
