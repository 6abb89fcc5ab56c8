#include "collectives/nccl/gpu_choice.hpp"

#include <gmock/gmock.h>

#include "base/error.hpp"

namespace collbench::collectives::gpu_choice_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const VisibleGpu kA{"0000:18:00.0", "GPU-a"};
const VisibleGpu kB{"0000:2a:00.0", "GPU-b"};
const VisibleGpu kC{"0000:3a:00.0", "GPU-c"};

/// `per_node` ranks on each of `nodes` nodes.
Identities ranks_on(int nodes, int per_node) {
  Identities identities;
  for (int rank = 0; rank < nodes * per_node; ++rank) {
    const int node = rank / per_node;
    identities.push_back({rank, "node" + std::to_string(node), node, rank % per_node});
  }
  return identities;
}

std::string error_of(const Identities& identities, const std::vector<std::vector<VisibleGpu>>& visible,
                     bool slurm) {
  try {
    static_cast<void>(choose_gpus(identities, visible, false, slurm));
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), ExitStatus::not_here);
    return describe(error);
  }
  return "no error";
}

TEST(GpuChoice, RanksThatSeeTheSameTakeThemInTurn) {
  const GpuChoice choice =
      choose_gpus(ranks_on(1, 3), {{kA, kB, kC}, {kA, kB, kC}, {kA, kB, kC}}, false, false);
  EXPECT_THAT(choice.device, ElementsAre(0, 1, 2));
  EXPECT_FALSE(choice.shared);
}

TEST(GpuChoice, ARankWithOneGpuUsesItThoughItsNumberIsZero) {
  EXPECT_THAT(choose_gpus(ranks_on(1, 2), {{kB}, {kA}}, false, false).device, ElementsAre(0, 0));
}

TEST(GpuChoice, PairsOfGpusPerRank) {
  EXPECT_THAT(choose_gpus(ranks_on(1, 2), {{kA, kB}, {kC, kB}}, false, false).device, ElementsAre(0, 0));
}

TEST(GpuChoice, NobodyTakesTheOnlyGpuOfAnother) {
  EXPECT_THAT(choose_gpus(ranks_on(1, 2), {{kA, kB}, {kA}}, false, false).device, ElementsAre(1, 0));
}

TEST(GpuChoice, TheSameAddressOnAnotherNodeIsAnotherGpu) {
  EXPECT_THAT(choose_gpus(ranks_on(2, 1), {{kA}, {kA}}, false, false).device, ElementsAre(0, 0));
}

TEST(GpuChoice, MigDevicesShareAnAddressAndAreTwo) {
  const VisibleGpu first{"0000:18:00.0", "MIG-1"};
  const VisibleGpu second{"0000:18:00.0", "MIG-2"};
  EXPECT_THAT(choose_gpus(ranks_on(1, 2), {{first}, {second}}, false, false).device, ElementsAre(0, 0));
}

TEST(GpuChoice, TwoRanksOnOneGpuAreNamedWithIt) {
  EXPECT_THAT(
      error_of(ranks_on(1, 2), {{kA}, {kA}}, false),
      HasSubstr("node0: ranks 0 and 1 would share GPU 0000:18:00.0: GPU 0000:18:00.0 is the only one"));
  EXPECT_THAT(error_of(ranks_on(1, 3), {{kA, kB}, {kA, kB}, {kA, kB}}, false),
              HasSubstr("ranks 0 and 2 would share GPU 0000:18:00.0: rank 2 sees 2 GPUs"));
}

TEST(GpuChoice, InsideSlurmTheRequestThatWorksIsNamed) {
  EXPECT_THAT(error_of(ranks_on(1, 2), {{kA}, {kA}}, true), HasSubstr("--gpus-per-node"));
}

TEST(GpuChoice, SharingIsDoneAndMarkedWhenAskedFor) {
  const GpuChoice choice = choose_gpus(ranks_on(1, 3), {{kA, kB}, {kA, kB}, {kA, kB}}, true, false);
  EXPECT_THAT(choice.device, ElementsAre(0, 1, 0));
  EXPECT_TRUE(choice.shared);
  EXPECT_FALSE(choose_gpus(ranks_on(1, 2), {{kA, kB}, {kA, kB}}, true, false).shared) << "there was no need";
}

}  // namespace
}  // namespace collbench::collectives::gpu_choice_test
