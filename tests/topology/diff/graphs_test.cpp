// What topo diff makes of NCCL's graphs (topology/diff/graphs.cpp).
#include <gmock/gmock.h>

#include <algorithm>

#include "tests/topology/diff/mutations.hpp"
#include "tests/topology/whole_fixture.hpp"
#include "topology/diff/topology_diff.hpp"
#include "topology/readers/readers.hpp"

namespace collbench::topology::graphs_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

/// Those of graphs: the machine of the fixtures has a fault of its own.
std::vector<std::string> found(const Host& a, const Host& b) {
  std::vector<std::string> words;
  for (const Finding& finding : diff_hosts(pair_hosts(a, b, false)).findings) {
    if (!finding.code.starts_with("graph-")) continue;
    words.push_back(fmt::format("{}, {}, {}: {}", finding.code, finding.side == Side::a ? "a" : "b",
                                finding.device, finding.what));
  }
  return words;
}

Host graph_alone() { return read_nccl_graph_xml(fixture("nccl_graph.xml"), "G.xml"); }

TEST(DiffGraphs, FewerChannelsAreSlower) {
  Host fewer = whole_fixture();
  fewer.nccl_graphs[0].channels.resize(2);
  EXPECT_THAT(
      found(whole_fixture(), fewer),
      ElementsAre("graph-slower, b, NCCL's ring: between GPUs 2 × 24 GB/s instead of 4 × 24 GB/s and to the "
                  "network 2 × 24 GB/s instead of 4 × 24 GB/s"));
  EXPECT_EQ(found(fewer, whole_fixture()).size(), 1U);
}

TEST(DiffGraphs, NoChannelIsSlower) {
  Host none = whole_fixture();
  none.nccl_graphs[1].channels.clear();
  EXPECT_THAT(found(whole_fixture(), none),
              ElementsAre("graph-slower, b, NCCL's tree: between GPUs no channel instead of 2 × 48 GB/s"));
}

TEST(DiffGraphs, AsMuchInOtherChannelsIsNotSlower) {
  Host halved = whole_fixture();
  ChannelGraph& ring = halved.nccl_graphs[0];
  ring.channels.resize(2);
  ring.intra_gigabytes_per_second.value = 48;
  ring.inter_gigabytes_per_second.value = 48;
  EXPECT_THAT(found(whole_fixture(), halved), IsEmpty());
}

TEST(DiffGraphs, ANicThatIsLeftAloneIsNamed) {
  Host one_nic = whole_fixture();
  for (auto& channel : one_nic.nccl_graphs[0].channels) channel.front().index = channel.back().index = 0;
  EXPECT_THAT(found(whole_fixture(), one_nic),
              ElementsAre("graph-nic-unused, b, mlx5_1 (0000:9b:00.0): NCCL's ring uses 1 NIC instead of 2"));
}

TEST(DiffGraphs, AGraphAloneSaysNothingOfTheNicsThatItLeavesAlone) {
  Host one_nic = graph_alone();
  for (ChannelGraph& graph : one_nic.nccl_graphs) {
    for (auto& channel : graph.channels) channel.front().index = channel.back().index = 0;
  }
  one_nic.nics.pop_back();
  EXPECT_THAT(found(graph_alone(), one_nic),
              ElementsAre("graph-nic-unused, b, NET1: NCCL's ring uses 1 NIC instead of 2",
                          "graph-nic-unused, b, NET1: NCCL's tree uses 1 NIC instead of 2"));
}

TEST(DiffGraphs, OtherWaysThroughTheSameDevicesAreOneFinding) {
  Host other = whole_fixture();
  for (auto& channel : other.nccl_graphs[1].channels) std::reverse(channel.begin(), channel.end());
  EXPECT_THAT(
      found(whole_fixture(), other),
      ElementsAre(
          "graph-order, b, NCCL's tree: mlx5_0 → GPU1 → GPU0 → mlx5_0 instead of mlx5_0 → GPU0 → GPU1 → "
          "mlx5_0"));
}

TEST(DiffGraphs, TheOrderOfChannelsIsNoDifference) {
  Host other = whole_fixture();
  for (ChannelGraph& graph : other.nccl_graphs) std::reverse(graph.channels.begin(), graph.channels.end());
  std::reverse(other.nccl_graphs.begin(), other.nccl_graphs.end());
  EXPECT_THAT(found(whole_fixture(), other), IsEmpty());
}

TEST(DiffGraphs, WhatOneMachineHasNoGraphOfIsNotCompared) {
  Host without = whole_fixture();
  without.nccl_graphs.clear();
  EXPECT_THAT(found(whole_fixture(), without), IsEmpty());
}

}  // namespace
}  // namespace collbench::topology::graphs_test
