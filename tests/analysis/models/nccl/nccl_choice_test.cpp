#include "analysis/models/nccl/nccl_choice.hpp"

#include <gtest/gtest.h>

#include "base/units.hpp"
#include "topology/machines/reference_machines.hpp"

namespace collbench::analysis::nccl_choice_test {
namespace {

GpuCluster cluster(const char* machine, int nodes) {
  return gpu_cluster(*topology::find_reference_machine(machine), nodes, 0);
}

TEST(NcclSetup, EightH100InOneNodeHaveTwelveChannelsOfThirty) {
  const auto setup = nccl_setup(cluster("hgx-h100", 1));
  ASSERT_TRUE(setup);
  EXPECT_EQ(setup->graph.channels, 12);
  EXPECT_EQ(setup->graph.within_node, 30);
  EXPECT_EQ(setup->job.collective_channels, 24);
}

TEST(NcclSetup, AcrossNodesThereIsAChannelForEachNic) {
  const auto setup = nccl_setup(cluster("hgx-h100", 2));
  ASSERT_TRUE(setup);
  EXPECT_EQ(setup->graph.channels, 8);
  EXPECT_EQ(setup->graph.across_nodes, 48);
  EXPECT_EQ(setup->job.collective_channels, 16);
  EXPECT_EQ(setup->job.ranks, 16);
}

TEST(NcclSetup, WithoutNvswitchNothingIsSaid) {
  GpuCluster bridged = cluster("hgx-h100", 1);
  bridged.nvswitch = false;
  EXPECT_FALSE(nccl_setup(bridged));
}

TEST(NcclChoice, SmallIsLlAndLargeIsSimple) {
  const auto small = nccl_choice(OperationId::all_reduce, 8, cluster("hgx-h100", 1));
  ASSERT_TRUE(small);
  EXPECT_EQ(small->protocol, NcclProtocol::ll);
  EXPECT_NEAR(small->seconds, 15.0e-6, 0.1e-6);
  const auto large = nccl_choice(OperationId::all_reduce, kGiB, cluster("hgx-h100", 1));
  ASSERT_TRUE(large);
  EXPECT_EQ(large->algorithm, NcclAlgorithm::ring);
  EXPECT_EQ(large->protocol, NcclProtocol::simple);
  EXPECT_NEAR(large->seconds, 5275.6e-6, 5e-6);
}

TEST(NcclChoice, AllToAllIsNotChosenByTheTable) {
  EXPECT_FALSE(nccl_choice(OperationId::all_to_all, kMiB, cluster("hgx-h100", 1)));
}

}  // namespace
}  // namespace collbench::analysis::nccl_choice_test
