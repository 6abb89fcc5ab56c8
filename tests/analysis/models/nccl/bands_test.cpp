#include "analysis/models/nccl/bands.hpp"

#include <gtest/gtest.h>

#include <set>

#include "base/units.hpp"
#include "tests/analysis/models/nccl/clusters.hpp"

namespace collbench::analysis::bands_test {
namespace {

BandClass class_of(const GpuCluster& cluster, OperationId id = OperationId::all_reduce) {
  return band_class(id, cluster);
}

TEST(BandClass, IsWhatHoldsTheRunBack) {
  EXPECT_EQ(class_of(cluster_of("hgx-h100", 1)), BandClass::nvlink);
  EXPECT_EQ(class_of(cluster_of("hgx-h100", 8)), BandClass::rdma);
  EXPECT_EQ(class_of(cluster_of("hgx-h100", 9)), BandClass::many_nodes);
  EXPECT_EQ(class_of(cluster_of("hgx-h100", 8, 1)), BandClass::rdma);  // one GPU a node: no NVLink takes part
  EXPECT_EQ(class_of(cluster_of("p4de", 2)), BandClass::efa);
  EXPECT_EQ(class_of(cluster_of("a3-mega", 2)), BandClass::tcpx);
  EXPECT_EQ(class_of(cluster_of("gb200-nvl72", 2)), BandClass::nvlink);
  EXPECT_EQ(class_of(cluster_of("gb200-nvl72", 18)), BandClass::nvlink_rack);
  EXPECT_EQ(class_of(cluster_of("gb200-nvl72", 36)), BandClass::nvlink_rack);
  EXPECT_EQ(class_of(cluster_of("l40s", 2)), class_of(cluster_of("l40s", 1)));
  EXPECT_EQ(class_of(cluster_of("hgx-h100", 1), OperationId::all_to_all), BandClass::nvlink);
  EXPECT_EQ(class_of(cluster_of("hgx-h100", 2), OperationId::send_recv), BandClass::exchange);
}

TEST(BandClass, SwitchesAreNotTheHost) {
  GpuCluster cluster = cluster_of("a100-pcie", 1);
  cluster.host_path_is_switched = false;
  EXPECT_EQ(class_of(cluster), BandClass::pcie_host);
  cluster.host_path_is_switched = true;
  EXPECT_EQ(class_of(cluster), BandClass::pcie_switches);
}

// What fell back to sockets is held against the NICs that it should have used, and not against other sockets.
TEST(BandClass, AFallBackIsNoExcuse) {
  GpuCluster cluster = cluster_of("ndv4", 2);
  cluster.transport = cluster.run.logged = Transport::sockets;
  EXPECT_EQ(class_of(cluster), BandClass::rdma);
  cluster.nic_transport = Transport::sockets;  // --transport sockets: what the machine has
  EXPECT_EQ(class_of(cluster), BandClass::sockets);
  cluster.nic_transport = Transport::unknown;  // Ethernet of which nothing says that it has RDMA
  EXPECT_EQ(class_of(cluster), BandClass::sockets);
}

TEST(Band, HoldsTheModelAndHasANameInEveryClass) {
  std::set<std::string_view> names;
  for (int index = 0; index <= static_cast<int>(BandClass::sockets); ++index) {
    const auto kind = static_cast<BandClass>(index);
    names.insert(name(kind));
    for (const double bytes : {8.0, 65536.0, 67108864.0, 1073741824.0}) {
      EXPECT_GT(band(kind, bytes, 16).low, 0) << name(kind);
      EXPECT_LT(band(kind, bytes, 16).low, 1) << name(kind);
      EXPECT_GE(band(kind, bytes, 16).high, 1) << name(kind);
    }
  }
  // 128 ranks with 2 GiB send what 64 send with 1 GiB.
  EXPECT_EQ(band(BandClass::rdma, 2.0 * kGiB, 128), band(BandClass::rdma, 1.0 * kGiB, 64));
  EXPECT_EQ(band(BandClass::rdma, 1.0 * kGiB, 128), band(BandClass::rdma, 0.5 * kGiB, 64));
  EXPECT_EQ(names.size(), static_cast<std::size_t>(BandClass::sockets) + 1);
  EXPECT_EQ(band(BandClass::rdma, 65535, 16), band(BandClass::rdma, 8, 16));
  EXPECT_EQ(band(BandClass::rdma, 1e12, 16), band(BandClass::rdma, static_cast<double>(kGiB), 16));
}

// A class that says nothing of a FAULT would hide every broken machine of the two kinds that were published.
TEST(Band, OfMachinesWithNvlinkOrRdmaBeginsAboveHalfOfTheRing) {
  for (const BandClass kind : {BandClass::nvlink, BandClass::rdma, BandClass::efa, BandClass::tcpx}) {
    EXPECT_GT(band(kind, static_cast<double>(kGiB), 16).low, 0.5) << name(kind);
  }
}

}  // namespace
}  // namespace collbench::analysis::bands_test
