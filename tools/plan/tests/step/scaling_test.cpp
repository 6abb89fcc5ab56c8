#include "tools/plan/step/scaling.hpp"

#include <gtest/gtest.h>

#include "tests/analysis/models/nccl/clusters.hpp"
#include "tools/plan/job/model_catalog.hpp"

namespace collbench::analysis::scaling_test {
namespace {

ScalePoint point(int gpus, double per_gpu) {
  ScalePoint result{.gpus = gpus, .plan = TrainingPlan{}, .refused = {}};
  result.plan->tokens_per_second_per_gpu = per_gpu;
  return result;
}

TEST(Scaling, StopsPayingWhereAnAddedGpuBringsLessThanHalf) {
  // 8 × 100 = 800; 16 × 90 = 1440: 80 each of 8 added; 32 × 60 = 1920: 30 each of 16 added.
  const std::string words = where_it_stops_paying({point(8, 100), point(16, 90), point(32, 60)}).words;
  EXPECT_NE(words.find("It stops paying at 16 GPUs: from there to 32 GPUs each added GPU gives 30 %"),
            std::string::npos)
      << words;
  EXPECT_NE(where_it_stops_paying({point(8, 100), point(16, 90), point(32, 60), point(64, 40)})
                .words.find("it pays from 50 %), and no larger number pays either."),
            std::string::npos);
  EXPECT_NE(where_it_stops_paying({point(8, 100), point(16, 90)}).words.find("It pays up to 16 GPUs"),
            std::string::npos);
  EXPECT_EQ(where_it_stops_paying({point(8, 100), point(16, 90), point(32, 60)}).end.value().gpus, 16);
  EXPECT_FALSE(where_it_stops_paying({point(8, 100)}).end);
  EXPECT_NE(where_it_stops_paying({}).words.find("not known"), std::string::npos);
  EXPECT_NE(where_it_stops_paying({point(8, 100)}).words.find("not known"), std::string::npos);
}

// A number that divides badly is no end: 9 GPUs bring less than 8, 16 twice as much.
TEST(Scaling, ADipIsNamedAndNoEnd) {
  const std::string words =
      where_it_stops_paying({point(8, 100), point(9, 80), point(16, 100), point(32, 55)}).words;
  EXPECT_NE(words.find("It stops paying at 16 GPUs: from there to 32 GPUs each added GPU gives 10 %"),
            std::string::npos)
      << words;
  EXPECT_NE(words.find("Left out, for a larger number pays again: 9."), std::string::npos) << words;
  EXPECT_NE(where_it_stops_paying({point(8, 100), point(9, 80), point(16, 100)})
                .words.find("It pays up to 16 GPUs"),
            std::string::npos);
}

TEST(Scaling, KeepsTheBatchOrTheSamplesOfAGpu) {
  PlanRequest request;
  request.model = find_model("llama-3.1-70b").shape;
  request.sequence = 4096;
  request.global_batch = 256;
  request.tp = 8;
  const auto series = scaling(request, cluster_of("hgx-h100", 1), {8, 32, 64});
  ASSERT_EQ(series.size(), 2U);
  EXPECT_FALSE(series[0].points[0].plan) << "70 B parameters do not fit into eight GPUs";
  EXPECT_NE(series[0].points[0].refused.find("fits into memory"), std::string::npos);
  EXPECT_EQ(series[0].points[2].plan->job.global_batch, 256);
  EXPECT_EQ(series[1].points[1].plan->job.global_batch, 128);
  EXPECT_EQ(series[1].points[2].plan->job.global_batch, 256);
  EXPECT_DOUBLE_EQ(*series[0].points[1].efficiency, 1) << "the fewest that can be planned";
}

}  // namespace
}  // namespace collbench::analysis::scaling_test
