#include "analysis/prediction.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "base/units.hpp"
#include "tests/analysis/gpu/clusters.hpp"

namespace collbench {
namespace {

Prediction example() {
  static constexpr OperationId kOperations[] = {OperationId::all_reduce, OperationId::send_recv};
  static constexpr std::uint64_t kSizes[] = {kMiB, kGiB};
  return predict("p4de", cluster_of("p4de", 2), kOperations, kSizes);
}

TEST(Prediction, EveryFormatHoldsTheSameNumbers) {
  const Prediction prediction = example();
  ASSERT_EQ(prediction.rows.size(), 4U);
  const auto json = nlohmann::json::parse(render_prediction(prediction, "json"));
  const double ring = json["rows"][1]["ring_bus_bandwidth_gb_per_s"];
  EXPECT_NEAR(ring, 42, 1);
  EXPECT_EQ(json["rows"][1]["expected_by"], "tree");
  EXPECT_EQ(json["rows"][3]["tree_bus_bandwidth_gb_per_s"], nullptr);
  for (const char* format : {"text", "md"}) {
    EXPECT_THAT(render_prediction(prediction, format),
                testing::AllOf(testing::HasSubstr(format_significant(ring, 4, 9)), testing::HasSubstr("tree"),
                               testing::HasSubstr("4 NICs of 12.5 GB/s a node")));
  }
  EXPECT_THAT(render_prediction(prediction, "csv"), testing::HasSubstr("AllReduce,1073741824,16,2,"));
}

TEST(Prediction, AnUnknownFormatIsAnError) { EXPECT_THROW((void)render_prediction(example(), "pdf"), Error); }

}  // namespace
}  // namespace collbench
