#include "launch/launcher.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include "base/child_process.hpp"
#include "base/secrets/secrets.hpp"

namespace collbench::launch::launcher_test {
namespace {

using ::testing::Contains;
using ::testing::Key;
using ::testing::Not;

TEST(Launcher, TheRanksOwnVariableBeatsTheDaemons) {
  unsetenv("OMPI_COMM_WORLD_RANK");
  unsetenv("PMIX_RANK");
  unsetenv("PMI_RANK");
  setenv("SLURM_PROCID", "7", 1);
  EXPECT_EQ(launched_rank(), std::nullopt);
  setenv("PMIX_RANK", "3", 1);
  EXPECT_EQ(launched_rank(), 3);
  setenv("OMPI_COMM_WORLD_RANK", "5", 1);
  EXPECT_EQ(launched_rank(), 5);
  unsetenv("OMPI_COMM_WORLD_RANK");
}

TEST(Launcher, OfTwoTheInnerOneCounts) {
  setenv("PMIX_RANK", "0", 1);  // srun --mpi=pmix --pty started a shell, in which hydra started ranks
  setenv("PMI_RANK", "3", 1);
  setenv("PMI_SIZE", "4", 1);
  EXPECT_EQ(mpi_launcher(), MpiLauncher::pmi);
  EXPECT_EQ(launched_rank(), 3);
  EXPECT_EQ(launched_size(), 4);
  setenv("PMI_SIZE", "1",
         1);  // srun --mpi=pmi2 --pty started a shell, in which srun --mpi=pmix started ranks
  EXPECT_EQ(mpi_launcher(), MpiLauncher::pmix);
  EXPECT_EQ(launched_rank(), 0);
  EXPECT_EQ(launched_size(), std::nullopt);
  for (const char* name : {"PMIX_RANK", "PMI_RANK", "PMI_SIZE"}) unsetenv(name);
}

TEST(Launcher, ACommandThatIsNoRankIsOneOfNoLauncher) {
  for (const char* name : {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK"}) setenv(name, "1", 1);
  const auto ranks = [](const std::vector<std::string>& command) { return run_child(command).out; };
  const std::vector<std::string> command{"sh", "-c",
                                         "echo $OMPI_COMM_WORLD_RANK$PMIX_RANK$PMI_RANK$OF_ITS_OWN"};
  EXPECT_EQ(ranks(command), "111\n");
  EXPECT_EQ(ranks(as_no_rank(command)), "\n");
  std::vector<std::string> with_variable = command;
  with_variable.insert(with_variable.begin(), "OF_ITS_OWN=2 3");
  EXPECT_EQ(ranks(as_no_rank(with_variable)), "2 3\n");
  for (const char* name : {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK"}) unsetenv(name);
}

TEST(Launcher, TheRanksOfAHost) {
  for (const char* name : {"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS"}) unsetenv(name);
  EXPECT_EQ(launched_local_size(), std::nullopt);
  setenv("PMI_RANK", "0", 1);
  setenv("MPI_LOCALNRANKS", "4", 1);
  EXPECT_EQ(launched_local_size(), 4);
  setenv("OMPI_COMM_WORLD_RANK", "0", 1);
  setenv("OMPI_COMM_WORLD_LOCAL_SIZE", "8", 1);
  EXPECT_EQ(launched_local_size(), 8);
}

TEST(Launcher, OpenMpiHasMoreNamesThanOne) {
  for (const char* name :
       {"mpirun", "mpiexec", "orterun", "prterun", "prun", "mpirun.openmpi", "mpiexec.openmpi"})
    EXPECT_TRUE(is_open_mpi_launcher(name)) << name;
  for (const char* name : {"", "srun", "mpirun2", "mpiexec.hydra", "mpirun.mpich", ".openmpi", "bash"})
    EXPECT_FALSE(is_open_mpi_launcher(name)) << name;
}

TEST(Launcher, MallocSettingsAreRecorded) {
  for (const char* name : {"MALLOC_MMAP_MAX_", "MALLOC_TRIM_THRESHOLD_", "GLIBC_TUNABLES"}) {
    setenv(name, "1", 1);
    EXPECT_THAT(recorded_environment(), Contains(Key(name)));
    unsetenv(name);
  }
}

TEST(Launcher, SecretsOfWhatIsRecordedAreOnlySaidToBeSet) {
  using Pair = std::pair<const std::string, std::string>;
  const std::map<std::string, std::string> secret{
      {"NCCL_PLUGIN_TOKEN", "abc"},    {"UCX_MY_PASSWORD", "abc"},
      {"FI_MY_SECRET", "abc"},         {"COLLBENCH_API_KEY", "abc"},
      {"OMPI_MCA_btl_my_auth", "abc"}, {"NCCL_NET_PROXY", "http://me:abc@proxy:1"},
      {"MALLOC_X", "password=abc"}};
  for (const auto& [name, value] : secret) setenv(name.c_str(), value.c_str(), 1);
  setenv("NCCL_IB_PKEY", "7", 1);
  const auto recorded = recorded_environment();
  for (const auto& [name, value] : secret) {
    EXPECT_THAT(recorded, Contains(Pair(name, kNotRecorded)));
    unsetenv(name.c_str());
  }
  EXPECT_THAT(recorded, Contains(Pair("NCCL_IB_PKEY", "7")));
  unsetenv("NCCL_IB_PKEY");
}

TEST(Launcher, SecretsAndTheDaemonsTalkAreNotRecorded) {
  setenv("NCCL_ALGO", "Ring", 1);
  setenv("OMPI_MCA_btl", "self,tcp", 1);
  setenv("OMPI_MCA_orte_hnp_uri", "1.0;tcp://10.0.0.1:1", 1);
  setenv("OMPI_MCA_orte_precondition_transports", "key", 1);
  setenv("AWS_SECRET_ACCESS_KEY", "secret", 1);
  setenv("MY_NCCL_TOKEN", "secret", 1);
  const auto recorded = recorded_environment();
  EXPECT_THAT(recorded, Contains(std::pair<const std::string, std::string>("NCCL_ALGO", "Ring")));
  EXPECT_THAT(recorded, Contains(Key("OMPI_MCA_btl")));
  for (const char* name : {"OMPI_MCA_orte_hnp_uri", "OMPI_MCA_orte_precondition_transports",
                           "AWS_SECRET_ACCESS_KEY", "MY_NCCL_TOKEN", "PATH", "HOME"}) {
    EXPECT_THAT(recorded, Not(Contains(Key(name))));
  }
}

}  // namespace
}  // namespace collbench::launch::launcher_test
