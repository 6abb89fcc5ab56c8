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
  EXPECT_EQ(p2p_channel_net_rate(22809), 17.2);
  EXPECT_EQ(p2p_channel_net_rate(22902), 13.2);
}

TEST(P2pChannels, WithoutAVersionTheLaterRuleIsTheOtherAnswer) {
  EXPECT_EQ(channels_per_net_peer(with_later_channels(cluster_of("hgx-b200", 2))), 4);
  EXPECT_EQ(channels_per_net_peer(with_later_channels(with_version(cluster_of("hgx-b200", 2), 22809))), 2);
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

constexpr double kMiB = 1 << 20;

// What openxla's tables jump at: 72 GB200 from LL to Simple above 512 KiB, and twice the channels above 16,
// 32, … MiB.
TEST(P2pChannels, APeerOfADomainGetsMoreChannelsWithItsBytes) {
  const GpuCluster rack = cluster_of("gb200-nvl72", 18);
  EXPECT_EQ(p2p_channels(rack), 32);
  EXPECT_EQ(send_parts(rack, 0.5 * kMiB), (SendParts{1, true}));
  EXPECT_EQ(send_parts(rack, 0.6 * kMiB), (SendParts{1, false}));
  EXPECT_EQ(send_parts(rack, 16 * kMiB), (SendParts{1, false}));
  EXPECT_EQ(send_parts(rack, 17 * kMiB), (SendParts{2, false}));
  EXPECT_EQ(send_parts(rack, 1024 * kMiB), (SendParts{32, false}));
  const GpuCluster node = cluster_of("hgx-h100", 1);
  EXPECT_EQ(send_parts(node, 8 << 10), (SendParts{1, true}));
  EXPECT_EQ(send_parts(node, 64 * kMiB), (SendParts{4, false}));
  EXPECT_EQ(send_parts(node, 128 * kMiB), (SendParts{8, false}));
}

TEST(P2pChannels, From229LlEndsByTheChannelsInUse) {
  const GpuCluster node = with_version(cluster_of("hgx-h100", 1), 22902);
  EXPECT_EQ(send_parts(node, 16 << 10), (SendParts{1, true}));
  EXPECT_EQ(send_parts(node, 64 << 10), (SendParts{1, false}));
}

// By hand: 35 rounds on 32 channels, so that some channel has two peers' parts of 4 MiB.
TEST(P2pChannels, AnExchangeWaitsForItsFullestChannel) {
  const GpuCluster ranks = cluster_of("gb200-nvl72", 9);
  EXPECT_NEAR(*send_ramp_microseconds(ranks, 4 * kMiB, true, 0), (2 * 4 + 0.5) * kMiB / 20.3e3, 1e-6);
  EXPECT_NEAR(*send_ramp_microseconds(ranks, 4 * kMiB, false, 0), 4.5 * kMiB / 20.3e3, 1e-6);
  EXPECT_EQ(send_ramp_microseconds(cluster_of("hgx-a100", 1), kMiB, true, 0), std::nullopt);
}

}  // namespace
}  // namespace collbench::analysis::p2p_channels_test
