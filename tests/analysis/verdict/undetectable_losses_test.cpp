#include "analysis/verdict/verdict.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/analysis/models/nccl/clusters.hpp"
#include "tests/analysis/verdict/judged_rows.hpp"

namespace collbench::analysis::undetectable_losses_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::StartsWith;

Row largest_row(const GpuCluster& cluster, OperationId id) {
  Row row = run_from_expectation(cluster, 1, id).rows.back();
  row.expectation = expect_on_gpus(id, row.measurement.key.size_bytes, cluster);
  return row;
}

/// Of a row that is SOUND as far down as its band reaches.
std::vector<std::string> hidden(const Row& row, const GpuCluster& cluster) {
  const Expectation& expected = row.expectation;
  const HealthyRange range{0, *expected.expected_seconds / *expected.slowest_seconds, 1.1, "the band"};
  std::vector<std::string> losses;
  for (const HiddenLoss& loss : hidden_losses(row, range, cluster))
    if (loss.share > 0 && loss.resource != kNicPcie) losses.push_back(loss.text);
  if (std::string other = hidden_algorithm(row, cluster); !other.empty()) losses.push_back(std::move(other));
  return losses;
}

/// Of a row as slow as its band allows: what the measured time excludes is little.
std::vector<std::string> hidden(const GpuCluster& cluster, OperationId id) {
  Row row = largest_row(cluster, id);
  row.measurement.seconds = *row.expectation.slowest_seconds;
  return hidden(row, cluster);
}

/// Of a row that took just as long as expected.
std::vector<std::string> hidden_when_as_expected(const GpuCluster& cluster, OperationId id) {
  return hidden(largest_row(cluster, id), cluster);
}

TEST(HiddenLosses, OneNicOfEightAndOneNvlinkOfTwelve) {
  EXPECT_THAT(hidden(cluster_of("ndv4", 2), OperationId::all_gather),
              ElementsAre("the 8 NICs at 88 % of their rate", "the 12 NVLinks at 67 % of their rate"));
  EXPECT_THAT(hidden(cluster_of("hgx-h100", 1), OperationId::all_gather),
              ElementsAre("the 18 NVLinks at 94 % of their rate"));
}

TEST(HiddenLosses, OfFewLinksOneOrHalfOfOne) {
  // One of six is 17 %, and LOW begins 11 % below the model; half of one of four is 12 %.
  EXPECT_THAT(hidden(cluster_of("dgx-1v", 1), OperationId::all_gather),
              ElementsAre("the 6 NVLinks at 92 % of their rate"));
  GpuCluster four = cluster_of("dgx-1v", 1);
  four.nvlinks = 4;
  EXPECT_THAT(hidden(four, OperationId::all_gather), IsEmpty());
}

TEST(HiddenLosses, LinksThatDoNotLimit) {
  // Half of 8 × 400 Gb/s still carries what the ring floor of the NVLinks needs.
  const auto losses = hidden(cluster_of("hgx-h100", 2), OperationId::all_reduce);
  EXPECT_THAT(losses, ElementsAre("the 8 NICs at 50 % of their rate", "the 18 NVLinks at 67 % of their rate",
                                  StartsWith("running ring instead of nvls_tree (1.3 ×")));
}

TEST(HiddenLosses, HalfOfThePathWhereHealthyMachinesDifferByAsMuch) {
  const GpuCluster cluster = cluster_of("a100-pcie", 1);
  Row row = largest_row(cluster, OperationId::all_gather);
  row.measurement.seconds *= 2;
  EXPECT_THAT(
      hidden_losses(row, {0.4, 0.45, 1.1, "a range that is wide enough"}, cluster),
      ElementsAre(HiddenLoss{"path through the host", 0.5, "the path through the host at 50 % of its rate"}));
  EXPECT_THAT(hidden_losses(row, {0.4, 0.9, 1.1, "a narrow one"}, cluster),
              ElementsAre(HiddenLoss{"path through the host", 0, ""}));
}

TEST(HiddenLosses, WhatTheRowIsTooQuickForIsNotNamed) {
  EXPECT_THAT(hidden_when_as_expected(cluster_of("ndv4", 2), OperationId::all_gather),
              ElementsAre("the 8 NICs at 94 % of their rate", "the 12 NVLinks at 75 % of their rate"));
  EXPECT_THAT(hidden_when_as_expected(cluster_of("hgx-h100", 1), OperationId::all_gather),
              ElementsAre("the 18 NVLinks at 97 % of their rate"));
  EXPECT_THAT(hidden_when_as_expected(cluster_of("hgx-h100", 2), OperationId::all_reduce),
              ElementsAre("the 8 NICs at 62 % of their rate", "the 18 NVLinks at 94 % of their rate"));
  EXPECT_THAT(hidden_when_as_expected(cluster_of("a100-pcie", 1), OperationId::all_gather), IsEmpty());
}

TEST(HiddenLosses, PcieOfTheNicsShowsWhereItThenLimitsThem) {
  const auto pcie = [](const std::string& machine, OperationId id) {
    const GpuCluster cluster = cluster_of(machine, 2);
    for (const HiddenLoss& loss : hidden_losses(largest_row(cluster, id), {0.8, 0.93, 1.1, ""}, cluster))
      if (loss.resource == kNicPcie) return loss.share;
    return -1.0;
  };
  EXPECT_EQ(pcie("hgx-h100", OperationId::all_gather), 0);  // 32 GB/s for 50
  EXPECT_EQ(pcie("p5", OperationId::all_gather), -1) << "half of the link carries all of the NIC";
}

TEST(HiddenLosses, NoneWhereEveryLossShows) {
  GpuCluster one_link = cluster_of("hgx-h100", 1);
  one_link.nvlinks = 1;
  EXPECT_THAT(hidden(one_link, OperationId::all_gather), IsEmpty());
}

TEST(HiddenLosses, WhichAlgorithmRanIsNotHiddenOnceItIsKnown) {
  GpuCluster cluster = cluster_of("p4de", 2);
  EXPECT_THAT(hidden(cluster, OperationId::all_reduce),
              testing::Contains(StartsWith("running ring instead of tree")));
  cluster.run.algorithm = "ring";
  EXPECT_THAT(hidden(cluster, OperationId::all_reduce),
              testing::Not(testing::Contains(StartsWith("running ring instead of tree"))));
}

}  // namespace
}  // namespace collbench::analysis::undetectable_losses_test
