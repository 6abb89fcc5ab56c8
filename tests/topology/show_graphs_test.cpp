#include "topology/show_graphs.hpp"

#include <gmock/gmock.h>

#include "tests/topology/whole_fixture.hpp"

namespace collbench::show_graphs_test {
namespace {

TEST(ShowGraphs, ChannelsOfEachAlgorithmByTheNamesOfTheirDevices) {
  EXPECT_EQ(show_graphs(whole_fixture()),
            "NCCL's ring: 4 channels, 24 GB/s each between GPUs (NVL), 24 GB/s each to the network (PXB)\n"
            "  mlx5_0 → GPU0 → GPU1 → mlx5_0\n"
            "  mlx5_1 → GPU1 → GPU0 → mlx5_1\n"
            "  mlx5_0 → GPU0 → GPU1 → mlx5_0\n"
            "  mlx5_1 → GPU1 → GPU0 → mlx5_1\n"
            "NCCL's tree: 2 channels, 48 GB/s each between GPUs (NVL), 24 GB/s each to the network (PXB)\n"
            "  mlx5_0 → GPU0 → GPU1 → mlx5_0\n"
            "  mlx5_1 → GPU1 → GPU0 → mlx5_1\n"
            "NCCL's CollNet chain: 0 channels\n");
}

TEST(ShowGraphs, TheSameWayIsShownOnce) {
  Host host = whole_fixture();
  ChannelGraph& ring = host.nccl_graphs[0];
  ring.channels.assign(3, ring.channels[0]);
  ring.cross_nic.value = true;
  EXPECT_THAT(show_graphs(host),
              testing::HasSubstr("(PXB), across NICs\n  mlx5_0 → GPU0 → GPU1 → mlx5_0  × 3\n"));
}

TEST(ShowGraphs, WithoutAnyThereIsNothing) { EXPECT_EQ(show_graphs(Host{}), ""); }

}  // namespace
}  // namespace collbench::show_graphs_test
