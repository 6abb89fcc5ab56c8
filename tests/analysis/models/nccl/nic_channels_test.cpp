#include "analysis/models/nccl/nic_channels.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "tests/analysis/models/nccl/clusters.hpp"

namespace collbench::analysis::nic_channels_test {
namespace {

/// Two nodes with some NICs at other rates (GB/s), whose PCI tree is not known.
GpuCluster with_slow(std::string_view machine, const std::vector<double>& rates, NicNeighbors neighbors) {
  GpuCluster cluster = cluster_of(machine, 2);
  cluster.transport = Transport::infiniband;
  cluster.planned.reset();
  for (const double rate : rates) cluster.slower_nics.push_back({rate, cluster.nic_path, neighbors});
  return cluster;
}

/// What libnccl 2.28.9 printed for pattern 4 (the ring) of a node of the same build; bw × channels.
struct Seen {
  const char* machine;
  std::vector<double> slow;
  NicNeighbors neighbors;
  int channels;
};

TEST(NicChannels, AreThoseThatNcclsOwnSearchFound) {
  constexpr NicNeighbors kOne = NicNeighbors::one_gpu;
  const std::vector<Seen> all{{"hgx-h100", {}, kOne, 8},
                              {"hgx-h100", {45}, kOne, 8},      // 360 Gb/s: 8 × 45
                              {"hgx-h100", {43.75}, kOne, 15},  // 350: 15 × 24
                              {"hgx-h100", {37.5}, kOne, 15},
                              {"hgx-h100", {25}, kOne, 15},
                              {"hgx-h100", {23.75}, kOne, 7},  // 190: 7 × 48
                              {"hgx-h100", {12.5}, kOne, 7},
                              {"hgx-h100", {37.5, 37.5}, kOne, 14},
                              {"hgx-h100", {25, 25, 25}, kOne, 13},
                              {"hgx-b200", {45}, kOne, 15},  // 45.1 is tried there, and not 45
                              {"hgx-b200", {25}, kOne, 15},
                              {"hgx-b200", {23.75}, kOne, 7},
                              {"oci-h100", {12.5}, kOne, 31},
                              {"oci-h100", {18.75}, kOne, 31},
                              {"oci-h100", {6.25}, kOne, 15},
                              {"p5", {6.25}, kOne, 31},
                              {"p4de", {6.25}, NicNeighbors::gpus_without_a_nic, 7},
                              {"p4de", {9.375}, NicNeighbors::gpus_without_a_nic, 11},  // 11 × 4
                              {"hgx-a100", {12.5}, NicNeighbors::gpus_and_nics, 7},
                              {"hgx-a100", {18.75}, NicNeighbors::gpus_and_nics, 7}};
  for (const Seen& seen : all) {
    const std::string what =
        std::string(seen.machine) + " " + (seen.slow.empty() ? "" : std::to_string(seen.slow[0]));
    EXPECT_EQ(nic_channels(with_slow(seen.machine, seen.slow, seen.neighbors)).channels, seen.channels)
        << what;
  }
}

TEST(NicChannels, WithHealthyNodesTheFirstOfThemAreUsed) {
  const auto rate = [](const std::vector<double>& slow) {
    GpuCluster cluster = with_slow("hgx-h100", slow, NicNeighbors::one_gpu);
    cluster.max_channels = 8;
    return nic_channels(cluster).rate;
  };
  EXPECT_DOUBLE_EQ(rate({}), 8 * 47.5);
  EXPECT_DOUBLE_EQ(rate({25}), 8 * 23.75);                // of seven fast NICs one carries two channels
  EXPECT_DOUBLE_EQ(rate({37.5}), 8 * 23.75);              // whatever the slow one could carry
  EXPECT_DOUBLE_EQ(rate({37.5, 37.5}), 8 * 0.95 * 37.5);  // six fast ones are pairs: each NIC once
  EXPECT_DOUBLE_EQ(rate({12.5}), 7 * 47.5);
}

TEST(NicChannels, AlikeOnAllNodesEveryNicCarriesWhatFits) {
  const auto rate = [](double slow) {
    return nic_channels(with_slow("hgx-h100", {slow}, NicNeighbors::one_gpu)).rate;
  };
  EXPECT_DOUBLE_EQ(rate(25), 15 * 23.75);
  EXPECT_DOUBLE_EQ(rate(45), 8 * 0.95 * 45);
}

TEST(NicChannels, ANicGivesTheLowerOfLineAndPcie) {
  const NicLink nic{50, 24, NicNeighbors::one_gpu};
  EXPECT_DOUBLE_EQ(nic.nccl_rate(), 24);
  EXPECT_DOUBLE_EQ(nic.rate(0.95), 24);
  EXPECT_DOUBLE_EQ((NicLink{25, 48, NicNeighbors::one_gpu}).rate(0.95), 23.75);
  EXPECT_DOUBLE_EQ((NicLink{50, 0, NicNeighbors::one_gpu}).rate(0.95), 47.5);  // not known
}

TEST(NicChannels, AJobOnSomeOfTheNicsIsAssumedToHaveFastOnes) {
  GpuCluster some = with_slow("hgx-h100", {25, 12.5}, NicNeighbors::one_gpu);
  use_nics(some, 1);
  EXPECT_EQ(fast_nic_count(some), 1);
  EXPECT_EQ(nic_channels(some).nics, 1);
  GpuCluster all = with_slow("hgx-h100", {25}, NicNeighbors::one_gpu);
  use_nics(all, all.nics);
  EXPECT_EQ(all.slower_nics.size(), 1U);
}

}  // namespace
}  // namespace collbench::analysis::nic_channels_test
