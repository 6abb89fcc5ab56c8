#include "analysis/models/nccl/algorithms.hpp"

#include <gtest/gtest.h>

#include "tests/analysis/models/nccl/clusters.hpp"

namespace collbench::analysis::p2p_channels_test {
namespace {

GpuCluster with_version(GpuCluster cluster, int version) {
  cluster.run.nccl_version = version;
  return cluster;
}

// By hand from src/graph/paths.cc: 2 × ranks > 4 × 16 channels from 33 ranks on.
TEST(P2pChannels, UpTo228OnePeerGetsTwoChannelsUntilTheRanksAreTooMany) {
  EXPECT_EQ(p2p_channels(cluster_of("hgx-b200", 2)), 16);
  EXPECT_EQ(channels_per_net_peer(cluster_of("hgx-b200", 2)), 2);
  EXPECT_EQ(channels_per_net_peer(cluster_of("hgx-b200", 4)), 2);
  EXPECT_EQ(channels_per_net_peer(cluster_of("hgx-b200", 8)), 1);
  EXPECT_EQ(channels_per_net_peer(with_version(cluster_of("hgx-b200", 8), 22809)), 1);
}

TEST(P2pChannels, From229TheNicsRateCounts) {
  EXPECT_EQ(channels_per_net_peer(with_version(cluster_of("hgx-b200", 2), 22902)), 4);
  EXPECT_EQ(channels_per_net_peer(with_version(cluster_of("hgx-b200", 8), 23007)), 2);
  EXPECT_EQ(channels_per_net_peer(with_version(cluster_of("hgx-b200", 64), 23007)), 1);
}

TEST(P2pChannels, RanksOnFewerGpusHaveFewerChannels) {
  EXPECT_EQ(p2p_channels(cluster_of("hgx-h100", 10, 1)), 4);
  EXPECT_EQ(channels_per_net_peer(cluster_of("hgx-h100", 10, 1)), 1);
  EXPECT_EQ(channels_per_net_peer(cluster_of("hgx-h100", 2, 1)), 2);
}

TEST(P2pChannels, WhereTheSearchIsNotRestatedNothingIsSaid) {
  EXPECT_EQ(p2p_channels(cluster_of("l40s", 2)), std::nullopt);
  EXPECT_EQ(channels_per_net_peer(cluster_of("gb200-nvl72", 36)), std::nullopt);
}

}  // namespace
}  // namespace collbench::analysis::p2p_channels_test
