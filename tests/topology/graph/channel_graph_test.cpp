#include "topology/graph/channel_graph.hpp"

#include <gtest/gtest.h>

namespace collbench::topology::channel_graph_test {
namespace {

Device gpu(int index) { return {DeviceKind::gpu, index}; }

ChannelGraph graph(int id, std::vector<std::vector<Device>> channels) {
  ChannelGraph made;
  made.id = id;
  made.channels = std::move(channels);
  return made;
}

TEST(ChannelGraph, HasTheNameOfItsAlgorithm) {
  EXPECT_EQ(nccl_graph_name(0), "NCCL's ring");
  EXPECT_EQ(nccl_graph_name(3), "NCCL's NVLS");
  EXPECT_EQ(nccl_graph_name(7), "NCCL's graph 7");
}

TEST(ChannelGraph, ARingInsideAHostHasNoFirstGpuAndItsChannelsNoOrder) {
  const auto one = graph(0, {{gpu(0), gpu(1), gpu(2)}, {gpu(0), gpu(2), gpu(1)}});
  EXPECT_EQ(sorted_channels(one),
            sorted_channels(graph(0, {{gpu(2), gpu(1), gpu(0)}, {gpu(1), gpu(2), gpu(0)}})));
  EXPECT_NE(sorted_channels(one),
            sorted_channels(graph(0, {{gpu(0), gpu(1), gpu(2)}, {gpu(0), gpu(1), gpu(2)}})));
}

TEST(ChannelGraph, ATreeStartsWhereItStarts) {
  EXPECT_NE(sorted_channels(graph(1, {{gpu(0), gpu(1)}})), sorted_channels(graph(1, {{gpu(1), gpu(0)}})));
}

TEST(ChannelGraph, ItsWaysAreWords) {
  Host host;
  host.gpus.resize(2);
  host.nics.resize(1);
  host.nics[0].nccl_net.value = 3;
  const auto ring = graph(0, {});
  EXPECT_EQ(channel_text(host, ring, {gpu(0), gpu(1)}), "GPU0 → GPU1 → GPU0");
  EXPECT_EQ(channel_text(host, ring, {{DeviceKind::nic, 0}, gpu(1), {DeviceKind::nic, 0}}),
            "NET3 → GPU1 → NET3");
}

}  // namespace
}  // namespace collbench::topology::channel_graph_test
