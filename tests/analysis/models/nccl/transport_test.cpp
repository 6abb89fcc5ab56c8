#include "analysis/models/nccl/transport.hpp"

#include <gtest/gtest.h>

#include "topology/machines/reference_machines.hpp"

namespace collbench::analysis::transport_test {
namespace {

TEST(Transport, TheTableIsInTheOrderOfTheEnumeration) {
  for (int i = 0; i <= static_cast<int>(Transport::sockets); ++i) {
    const auto id = static_cast<Transport>(i);
    EXPECT_EQ(traits(id).id, id);
    EXPECT_GT(traits(id).efficiency, 0.8);
    EXPECT_LE(traits(id).efficiency, 1);
    EXPECT_FALSE(traits(id).source.empty());
  }
}

TEST(Transport, EfaIsSendReceiveBeforeHopper) {
  EXPECT_EQ(find_transport("EFA", GpuGeneration::ampere), Transport::efa_send_recv);
  EXPECT_EQ(find_transport("efa", GpuGeneration::hopper), Transport::efa_rdma);
  EXPECT_EQ(find_transport("RoCE", GpuGeneration::hopper), Transport::roce);
  EXPECT_EQ(find_transport("carrier pigeon", GpuGeneration::hopper), std::nullopt);
}

TEST(Transport, IsReadFromTheHostsNics) {
  EXPECT_EQ(transport_of(topology::reference_host(*topology::find_reference_machine("hgx-h100")),
                         GpuGeneration::hopper),
            Transport::infiniband);
  topology::Host host;
  EXPECT_EQ(transport_of(host, GpuGeneration::hopper), Transport::unknown);
  host.nics.emplace_back().name.value = "mlx5_0";
  host.nics[0].ports.emplace_back().link_layer.value = "Ethernet";
  EXPECT_EQ(transport_of(host, GpuGeneration::hopper), Transport::roce);
  host.nics[0].driver.value = "efa";
  EXPECT_EQ(transport_of(host, GpuGeneration::hopper), Transport::efa_rdma);
}

}  // namespace
}  // namespace collbench::analysis::transport_test
