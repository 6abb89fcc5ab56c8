#include "launch/rendezvous.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/error.hpp"

namespace collbench::launch::rendezvous_test {
namespace {

constexpr const char* kAll[] = {"OMPI_COMM_WORLD_RANK",
                                "OMPI_COMM_WORLD_SIZE",
                                "PMIX_RANK",
                                "PMI_RANK",
                                "PMI_SIZE",
                                "RANK",
                                "LOCAL_RANK",
                                "WORLD_SIZE",
                                "LOCAL_WORLD_SIZE",
                                "MASTER_ADDR",
                                "MASTER_PORT",
                                "TORCHELASTIC_RUN_ID",
                                "SLURM_PROCID",
                                "SLURM_STEP_ID",
                                "SLURM_STEP_NUM_TASKS",
                                "SLURM_STEP_NODELIST",
                                "SLURM_JOB_ID",
                                "SLURM_PTY_PORT",
                                "COLLBENCH_RANK",
                                "COLLBENCH_RANKS",
                                "COLLBENCH_RENDEZVOUS",
                                "COLLBENCH_SECRET",
                                "JOB_COMPLETION_INDEX"};

/// With these variables, and no other one that matters.
std::optional<Rendezvous> found(const std::map<std::string, std::string>& variables,
                                const GivenRendezvous& given = {}) {
  for (const char* name : kAll) unsetenv(name);
  for (const auto& [name, value] : variables) setenv(name.c_str(), value.c_str(), 1);
  struct Restore {
    ~Restore() {
      for (const char* name : kAll) unsetenv(name);
    }
  } const restore;
  return find_rendezvous(given);
}

const std::map<std::string, std::string> kTorchrun{
    {"RANK", "5"},         {"LOCAL_RANK", "1"},      {"WORLD_SIZE", "8"},           {"LOCAL_WORLD_SIZE", "4"},
    {"MASTER_ADDR", "n1"}, {"MASTER_PORT", "29500"}, {"TORCHELASTIC_RUN_ID", "a b"}};
const std::map<std::string, std::string> kSrun{{"SLURM_PROCID", "2"},
                                               {"SLURM_STEP_ID", "0"},
                                               {"SLURM_STEP_NUM_TASKS", "4"},
                                               {"SLURM_STEP_NODELIST", "n[1-2]"},
                                               {"SLURM_JOB_ID", "120034"}};

TEST(Rendezvous, AloneAndUnderMpiThereIsNone) {
  EXPECT_FALSE(found({}).has_value());
  EXPECT_FALSE(found({{"SLURM_PROCID", "0"}}).has_value());               // a batch script's
  EXPECT_FALSE(found({{"RANK", "1"}, {"WORLD_SIZE", "2"}}).has_value());  // a pod's of a PyTorchJob
  for (const char* rank : {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK"}) {
    auto both = kSrun;
    both[rank] = "2";
    EXPECT_FALSE(found(both).has_value()) << rank;
  }
}

TEST(Rendezvous, TorchrunsPortIsItsAgents) {
  const auto where = found(kTorchrun).value();
  EXPECT_EQ(where.rank, 5);
  EXPECT_EQ(where.ranks, 8);
  EXPECT_EQ(where.local_ranks, 4);
  EXPECT_EQ(where.host, "n1");
  EXPECT_EQ(where.port, 29501);
  EXPECT_EQ(where.ports, 8);
  EXPECT_EQ(where.job, "torchrun:29500:a%20b:");
  EXPECT_FALSE(where.is_secret);
  auto alone = kTorchrun;
  alone["WORLD_SIZE"] = "1";
  EXPECT_FALSE(found(alone).has_value());
}

TEST(Rendezvous, OfTwoLaunchersTheInnerOneHasMoreProcesses) {
  auto both = kTorchrun;
  both["OMPI_COMM_WORLD_RANK"] = "1";
  both["OMPI_COMM_WORLD_SIZE"] = "2";  // of agents
  EXPECT_EQ(found(both).value().by, "torchrun");
  EXPECT_NE(found(both).value().passed_over, "");
  both["OMPI_COMM_WORLD_SIZE"] = "8";
  EXPECT_FALSE(found(both).has_value());
}

TEST(Rendezvous, InAShellOfSrunOneIsAlone) {
  auto shell = kSrun;
  shell["SLURM_PTY_PORT"] = "40000";
  EXPECT_FALSE(found(shell).has_value());
  auto half = kSrun;
  half.erase("SLURM_STEP_NODELIST");
  EXPECT_THROW(static_cast<void>(found(half)), Error);
}

TEST(Rendezvous, TwoJobsWithOneSecretDoNotMeet) {
  auto job = kTorchrun;
  job["COLLBENCH_SECRET"] = "lab";
  auto other = job;
  other["MASTER_PORT"] = "29501";
  EXPECT_NE(found(job).value().job, found(other).value().job);
}

TEST(Rendezvous, SrunsTasksMeetAtTheFirstNode) {
  const auto where = found(kSrun).value();
  EXPECT_EQ(where.rank, 2);
  EXPECT_EQ(where.ranks, 4);
  EXPECT_EQ(where.host, "n1");
  EXPECT_EQ(where.port, 15034);
  EXPECT_EQ(where.job, "srun:120034.0:");
}

TEST(Rendezvous, TheUsersWordIsFirst) {
  auto all = kTorchrun;
  all["COLLBENCH_RENDEZVOUS"] = "[fd00::1]:29600";
  all["COLLBENCH_RANKS"] = "3";
  all["JOB_COMPLETION_INDEX"] = "2";
  all["COLLBENCH_SECRET"] = "of all";
  const auto by_variables = found(all).value();
  EXPECT_EQ(by_variables.by, "--rendezvous");
  EXPECT_EQ(by_variables.host, "fd00::1");
  EXPECT_EQ(by_variables.port, 29600);
  EXPECT_EQ(by_variables.ports, 1);
  EXPECT_EQ(by_variables.rank, 2);
  EXPECT_EQ(by_variables.job, "--rendezvous:29600:of%20all");
  EXPECT_TRUE(by_variables.is_secret);
  EXPECT_NE(by_variables.passed_over, "");
  const auto by_options = found(all, {.rank = 0, .ranks = 4, .address = "n7:80"}).value();
  EXPECT_EQ(by_options.host, "n7");
  EXPECT_EQ(by_options.rank, 0);
  EXPECT_EQ(by_options.ranks, 4);
}

TEST(Rendezvous, EachSecretIsAWordOfItsOwn) {
  const auto word = [](const std::string& secret) {
    return found({{"COLLBENCH_RENDEZVOUS", "n1:80"},
                  {"COLLBENCH_RANK", "0"},
                  {"COLLBENCH_RANKS", "2"},
                  {"COLLBENCH_SECRET", secret}})
        .value()
        .job;
  };
  const std::vector<std::string> secrets{"a b", "a_b", "a%20b", "пароль", "секрет", "\x7f", "\n"};
  std::set<std::string> words;
  for (const std::string& secret : secrets) {
    words.insert(word(secret));
    EXPECT_EQ(word(secret).find_first_of(" \n"), std::string::npos);
  }
  EXPECT_EQ(words.size(), secrets.size());
  EXPECT_THROW(static_cast<void>(word(std::string(257, 'x'))), Error);
}

TEST(Rendezvous, HostsThatSpellRank0DifferentlyMeet) {
  const auto job = [](const char* address) {
    return found({}, {.rank = 1, .ranks = 2, .address = address}).value().job;
  };
  EXPECT_EQ(job("n1:29600"), job("n1.cluster:29600"));
  EXPECT_NE(job("n1:29600"), job("n1:29601"));
}

TEST(Rendezvous, AScriptsVariablesForPyTorchAreNoLauncher) {
  std::map<std::string, std::string> script = kTorchrun;
  script.erase("TORCHELASTIC_RUN_ID");
  script["PMIX_RANK"] = "1";  // srun --mpi=pmix, whose size is in no variable
  EXPECT_FALSE(found(script).has_value());
  script["OMPI_COMM_WORLD_RANK"] = "1";
  script["OMPI_COMM_WORLD_SIZE"] = "2";
  EXPECT_FALSE(found(script).has_value());
}

TEST(Rendezvous, HalfOfItIsAnError) {
  EXPECT_THROW(static_cast<void>(found({}, {.rank = 1, .ranks = std::nullopt, .address = ""})), Error);
  EXPECT_THROW(static_cast<void>(found({}, {.rank = 1, .ranks = std::nullopt, .address = "n1:80"})), Error);
  EXPECT_THROW(static_cast<void>(found({}, {.rank = 2, .ranks = 2, .address = "n1:80"})), Error);
  for (const char* address :
       {"n1", ":80", "n1:", "n1:0", "n1:65536", "n1:8x", "::1", "n1:80:80", "[]:80", "[:80"})
    EXPECT_THROW(static_cast<void>(found({}, {.rank = 0, .ranks = 2, .address = address})), Error) << address;
  for (const char* name : {"MASTER_ADDR", "MASTER_PORT"}) {
    auto half = kTorchrun;
    half.erase(name);
    EXPECT_THROW(static_cast<void>(found(half)), Error) << name;
  }
  auto beyond = kTorchrun;
  beyond["RANK"] = "8";
  EXPECT_THROW(static_cast<void>(found(beyond)), Error);
}

TEST(Rendezvous, TheFirstHostOfAListOfSlurms) {
  EXPECT_EQ(first_slurm_host("n1"), "n1");
  EXPECT_EQ(first_slurm_host("n1,n3"), "n1");
  EXPECT_EQ(first_slurm_host("n[1-4,9]"), "n1");
  EXPECT_EQ(first_slurm_host("a[07-12],b3"), "a07");
  EXPECT_EQ(first_slurm_host("gpu-[3,5]"), "gpu-3");
  EXPECT_EQ(first_slurm_host("rack[0-1]node[02-31],n7"), "rack0node02");
  EXPECT_EQ(first_slurm_host("n[1-2]-ib,n7"), "n1-ib");
}

}  // namespace
}  // namespace collbench::launch::rendezvous_test
