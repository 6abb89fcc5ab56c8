#include "analysis/verdict/undetectable_losses.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/analysis/models/nccl/clusters.hpp"
#include "tests/analysis/verdict/judged_rows.hpp"

namespace collbench::analysis::undetectable_losses_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::StartsWith;

std::vector<std::string> hidden(const GpuCluster& cluster, OperationId id) {
  Row row = run_from_expectation(cluster, 1, id).rows.back();
  row.expectation = expect_on_gpus(id, row.measurement.key.size_bytes, cluster);
  return undetectable_losses(row, cluster);
}

TEST(HiddenLosses, OneNicOfEightAndOneNvlinkOfTwelve) {
  EXPECT_THAT(hidden(cluster_of("ndv4", 2), OperationId::all_gather),
              ElementsAre("of one NIC of 8 (12 %)", "of one NVLink of 12 (8 %)"));
  EXPECT_THAT(hidden(cluster_of("hgx-h100", 1), OperationId::all_gather),
              ElementsAre("of one NVLink of 18 (6 %)"));
}

TEST(HiddenLosses, OfFewLinksHalfOfOne) {
  // One of six is 17 %, half of one 8 %, and the band begins 15 % below.
  EXPECT_THAT(hidden(cluster_of("dgx-1v", 1), OperationId::all_gather),
              ElementsAre("of half of one NVLink of 6 (8 %)"));
}

TEST(HiddenLosses, LinksThatDoNotLimit) {
  // Half of 8 × 400 Gb/s still carries what the ring floor of the NVLinks needs.
  const auto losses = hidden(cluster_of("hgx-h100", 2), OperationId::all_reduce);
  EXPECT_THAT(losses, ElementsAre("of half of the 8 NICs", "of one NVLink of 18 (6 %)",
                                  StartsWith("between ring and nvls_tree (1.3 ×")));
}

TEST(HiddenLosses, NoneWhereEveryLossShows) {
  EXPECT_THAT(hidden(cluster_of("a100-pcie", 1), OperationId::all_gather), IsEmpty());
}

TEST(HiddenLosses, WhichAlgorithmRanIsNotHiddenOnceItIsTold) {
  GpuCluster cluster = cluster_of("p4de", 2);
  EXPECT_THAT(hidden(cluster, OperationId::all_reduce),
              testing::Contains(StartsWith("between ring and tree")));
  cluster.run.algorithm = "ring";
  EXPECT_THAT(hidden(cluster, OperationId::all_reduce),
              testing::Not(testing::Contains(StartsWith("between ring and tree"))));
}

}  // namespace
}  // namespace collbench::analysis::undetectable_losses_test
