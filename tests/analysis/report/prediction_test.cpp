#include "analysis/report/prediction.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "analysis/report/report.hpp"
#include "base/units.hpp"
#include "tests/analysis/models/nccl/clusters.hpp"

namespace collbench::analysis::prediction_test {
namespace {

Prediction example() {
  static constexpr OperationId kOperations[] = {OperationId::all_reduce, OperationId::send_recv};
  static constexpr std::uint64_t kSizes[] = {kMiB, kGiB};
  return predict("p4de", cluster_of("p4de", 2), kOperations, kSizes);
}

TEST(Prediction, EveryFormatHoldsTheSameNumbers) {
  const Prediction prediction = example();
  ASSERT_EQ(prediction.rows.size(), 4U);
  const auto json = nlohmann::json::parse(report(prediction, "json"));
  const double ring = json["rows"][1]["ring_bus_bandwidth_gb_per_s"];
  EXPECT_NEAR(ring, 42, 1);
  EXPECT_EQ(json["rows"][1]["expected_by"], "tree");
  EXPECT_EQ(json["rows"][3]["tree_bus_bandwidth_gb_per_s"], nullptr);
  for (const char* format : {"text", "md"}) {
    EXPECT_THAT(report(prediction, format),
                testing::AllOf(testing::HasSubstr(format_significant(ring, 4, 9)), testing::HasSubstr("tree"),
                               testing::HasSubstr("4 NICs per node, 12.5 GB/s each")));
  }
  EXPECT_THAT(report(prediction, "csv"), testing::HasSubstr("AllReduce,1073741824,16,2,"));
}

TEST(Prediction, SmallRowsAreLatencyAndBlocksOfLessThanAFloatAreNone) {
  static constexpr OperationId kOperations[] = {OperationId::all_reduce, OperationId::all_gather};
  static constexpr std::uint64_t kSizes[] = {8, kGiB};
  const Prediction prediction = predict("hgx-h100", cluster_of("hgx-h100", 2), kOperations, kSizes);
  EXPECT_EQ(prediction.rows[0].expected.limited_by, "latency");
  EXPECT_NE(prediction.rows[1].expected.limited_by, "latency");
  EXPECT_EQ(prediction.rows[2].expected.limited_by, "less than 4 B per rank");  // half a byte each
  EXPECT_FALSE(prediction.rows[2].expected.expected_seconds);
}

TEST(Prediction, ABandIsNoPromiseForAFabricThatItWasNotFittedWith) {
  Prediction prediction = example();
  EXPECT_THAT(prediction_legend(prediction)[0], testing::HasSubstr("Nine in ten rows of published runs"));
  prediction.cluster.fabric = parse_fabric("fat-tree,routing=ecmp", "--fabric");
  EXPECT_THAT(prediction_legend(prediction)[0], testing::Not(testing::HasSubstr("Nine in ten")));
  EXPECT_THAT(prediction_legend(prediction)[0], testing::HasSubstr("runs whose fabric is not told"));
}

TEST(Prediction, TheRangeThatJudgeGoesByStandsBesideTheBand) {
  EXPECT_THAT(prediction_legend(example()), testing::Contains(testing::ContainsRegex(
                                                "band of SendRecv = .*judge: SOUND from 0.90 of expected, "
                                                "BELOW under 0.80 .sends and receives across nodes")));
  Prediction small = example();
  std::erase_if(small.rows, [](const PredictedRow& row) { return row.size_bytes > kMiB; });
  EXPECT_THAT(prediction_legend(small), testing::Not(testing::Contains(testing::HasSubstr("judge: "))));
}

TEST(Prediction, AScaleThatNobodyPublishedIsSaid) {
  static constexpr OperationId kOperations[] = {OperationId::all_reduce};
  static constexpr std::uint64_t kSizes[] = {kGiB};
  const auto legend = [](int nodes) {
    return prediction_legend(predict("alps", cluster_of("alps", nodes), kOperations, kSizes))[1];
  };
  EXPECT_THAT(legend(128), testing::Not(testing::HasSubstr("guess")));
  EXPECT_THAT(legend(2048), testing::HasSubstr("none beyond 540 nodes: no run of this scale was published"));
}

TEST(Prediction, OverSocketsItIsACeiling) {
  static constexpr OperationId kOperations[] = {OperationId::all_reduce};
  static constexpr std::uint64_t kSizes[] = {kGiB};
  GpuCluster cluster = cluster_of("hgx-h100", 2);
  cluster.transport = Transport::sockets;
  const Prediction prediction = predict("hgx-h100", cluster, kOperations, kSizes);
  EXPECT_FALSE(prediction.rows[0].expected.slowest_seconds);
  EXPECT_TRUE(prediction.rows[0].expected.fastest_seconds);
  EXPECT_THAT(report(prediction, "md"), testing::HasSubstr("All figures are ceilings"));
}

}  // namespace
}  // namespace collbench::analysis::prediction_test
