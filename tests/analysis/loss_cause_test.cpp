#include "analysis/loss_cause.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/analysis/gpu/clusters.hpp"
#include "tests/analysis/judged_rows.hpp"

namespace collbench::loss_cause_test {
namespace {

using testing::HasSubstr;

std::string cause(const GpuCluster& cluster, double slower) {
  Row row = run_from_expectation(cluster, slower).rows.back();
  row.expectation = expect_on_gpus(OperationId::all_reduce, row.measurement.key.size_bytes, cluster);
  return loss_cause(row, cluster);
}

TEST(LossCause, AcrossNodesWhatTheLogSaysComesFirst) {
  GpuCluster cluster = cluster_of("ndv4", 2);
  EXPECT_THAT(cause(cluster, 3), HasSubstr("NICs not used, GPUDirect off, or older software are left"));
  EXPECT_THAT(cause(cluster, 30), HasSubstr("what sockets (TCP, IP over InfiniBand) give"));
  cluster.run.network = "IB with GPUDirect RDMA";
  EXPECT_THAT(cause(cluster, 30), HasSubstr("the log says network IB with GPUDirect RDMA"));
  cluster.transport = Transport::sockets;
  EXPECT_THAT(cause(cluster, 3), HasSubstr("the log says sockets"));
}

TEST(LossCause, WithinANodeTheNvlinksThatNcclSaw) {
  GpuCluster cluster = cluster_of("hgx-a100", 1, 2);
  EXPECT_THAT(cause(cluster, 3), HasSubstr("NVLinks that are down, or peer access off"));
  cluster.run.channels = 2;
  EXPECT_THAT(cause(cluster, 3), HasSubstr("found 1 of 12 NVLinks"));
  cluster.run.nvlink_least = 20;
  EXPECT_THAT(cause(cluster, 3),
              HasSubstr("20 GB/s of NVLink from one GPU to another where 12 NVLinks give 240"));
  EXPECT_THAT(cause(cluster_of("a100-pcie", 1), 3), HasSubstr("the way through the host"));
}

}  // namespace
}  // namespace collbench::loss_cause_test
