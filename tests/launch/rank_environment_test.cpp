#include "launch/rank_environment.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.hpp"
#include "tests/launch/rank_threads.hpp"

namespace collbench::launch::rank_environment_test {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::uint64_t kGigabytes = 1'000'000'000;

RankEnvironment on_cores(std::vector<int> cores, int online = 8) {
  RankEnvironment environment;
  environment.machine.allowed_cores = std::move(cores);
  environment.machine.online_cores = online;
  environment.machine.available_memory_bytes = 8 * kGigabytes;
  environment.machine.program_id = "one";
  environment.library_version = "Open MPI v4.1.4";
  return environment;
}

/// `per_node` ranks on each of `nodes` nodes.
Identities block(int nodes, int per_node) {
  Identities all;
  for (int rank = 0; rank < nodes * per_node; ++rank) {
    all.push_back({.rank = rank,
                   .host = "host" + std::to_string(rank / per_node),
                   .node = rank / per_node,
                   .local_rank = rank % per_node});
  }
  return all;
}

std::string why_refused(const std::vector<RankEnvironment>& environments, const Identities& identities) {
  try {
    require_same_programs(environments, identities);
    static_cast<void>(all_have_gpus(environments, identities));
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), ExitStatus::not_here);
    return describe(error);
  }
  return "accepted";
}

TEST(RankEnvironment, IsGatheredWhole) {
  run_rank_threads(2, [](Ranks& ranks) {
    RankEnvironment mine = on_cores({ranks.rank()});
    mine.machine.nvidia_devices = 3;
    const std::vector<RankEnvironment> all = gather_rank_environments(ranks, mine);
    ASSERT_EQ(all.size(), 2U);
    EXPECT_THAT(all[1].machine.allowed_cores, ElementsAre(1));
    EXPECT_EQ(all[0].machine.online_cores, 8);
    EXPECT_EQ(all[0].machine.available_memory_bytes, 8 * kGigabytes);
    EXPECT_EQ(all[0].machine.nvidia_devices, 3);
    EXPECT_EQ(all[0].machine.program_id, "one");
    EXPECT_EQ(all[0].library_version, "Open MPI v4.1.4");
  });
}

TEST(RankEnvironment, DifferingProgramsAndLibrariesAreRefusedByHost) {
  std::vector<RankEnvironment> environments(4, on_cores({0, 1}));
  EXPECT_EQ(why_refused(environments, block(2, 2)), "accepted");
  environments[3].machine.program_id = "other";
  EXPECT_THAT(why_refused(environments, block(2, 2)),
              HasSubstr("rank 3 on host1: a different collbench program than rank 0 on host0"));
  environments[2].library_version = "Open MPI v5";
  EXPECT_THAT(why_refused(environments, block(2, 2)),
              AllOf(HasSubstr("rank 2 on host1"), HasSubstr("MPI library"), HasSubstr("v5")));
}

TEST(RankEnvironment, AGpuIsNeverPassedOverInSilence) {
  std::vector<RankEnvironment> environments(4, on_cores({0, 1}));
  EXPECT_FALSE(all_have_gpus(environments, block(2, 2)));
  environments[3].machine.nvidia_devices = 8;
  EXPECT_THAT(why_refused(environments, block(2, 2)), AllOf(HasSubstr("host1"), HasSubstr("--backend mpi")));
  for (RankEnvironment& environment : environments) environment.machine.nvidia_devices = 8;
  EXPECT_TRUE(all_have_gpus(environments, block(2, 2)));
}

TEST(RankEnvironment, CoresAndMemoryAreSharedByTheRanksOfANode) {
  const std::vector<RankEnvironment> environments{on_cores({0}), on_cores({1}), on_cores({0, 1, 2}),
                                                  on_cores({0, 1, 2})};
  EXPECT_THAT(cores_per_node(environments, block(2, 2)), ElementsAre(2, 3));
  EXPECT_EQ(memory_per_rank(environments, block(2, 2)), 4 * kGigabytes);
}

TEST(RankEnvironment, EnoughCoresAreNotANote) {
  const std::vector<RankEnvironment> environments{on_cores({0}), on_cores({1})};
  EXPECT_THAT(environment_notes(environments, block(1, 2), true, true), IsEmpty());
}

TEST(RankEnvironment, MoreRanksThanCores) {
  const std::vector<RankEnvironment> environments(4, on_cores({0, 1}, 2));
  EXPECT_THAT(environment_notes(environments, block(1, 4), true, false),
              ElementsAre(AllOf(HasSubstr("host0: 4 ranks on 2 cores"), HasSubstr("at most 2 ranks"))));
}

TEST(RankEnvironment, RanksBoundToOneCore) {
  const std::vector<RankEnvironment> environments(2, on_cores({5}));
  EXPECT_THAT(
      environment_notes(environments, block(1, 2), true, false),
      ElementsAre(AllOf(HasSubstr("2 ranks are bound to 1 of 8 cores"), HasSubstr("--bind-to none"))));
  EXPECT_THAT(environment_notes(environments, block(1, 2), true, true),
              ElementsAre(HasSubstr("add --cpu-bind=none to srun")));
}

TEST(RankEnvironment, OneRankWithoutALauncher) {
  const std::vector<RankEnvironment> environments{on_cores({0})};
  EXPECT_THAT(environment_notes(environments, block(1, 1), false, true),
              ElementsAre(AllOf(HasSubstr("inside a Slurm allocation"), HasSubstr("srun --mpi=pmix ("))));
  EXPECT_THAT(environment_notes(environments, block(1, 1), false, false),
              ElementsAre(HasSubstr("mpirun -np N")));
  EXPECT_THAT(environment_notes(environments, block(1, 1), true, false), IsEmpty());
}

}  // namespace
}  // namespace collbench::launch::rank_environment_test
