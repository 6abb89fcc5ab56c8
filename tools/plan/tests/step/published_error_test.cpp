#include "tools/plan/step/plan.hpp"

#include <gtest/gtest.h>

#include "tools/plan/job/model_catalog.hpp"

namespace collbench::analysis::published_error_test {
namespace {

TEST(PublishedError, IsThatOfStepsOfItsKind) {
  TrainingJob job{.model = find_model("llama-3.1-70b").shape, .stack = &find_stack("megatron")};
  bool given = true;
  const auto kind = [&](const char* gpu) {
    const PublishedError* const found = published_error(job, gpu, given);
    return found == nullptr ? "none" : found->kind;
  };
  EXPECT_EQ(kind("H100 SXM"), "TP, PP, CP; H100, BF16");
  EXPECT_EQ(kind("GB200"), "TP, PP, CP; Blackwell, BF16");
  job.dp = 8192;
  EXPECT_EQ(kind("H100 SXM"), "TP, PP, CP; H100, BF16, 8,192 GPUs and more");
  job.dp = 1;
  EXPECT_EQ(kind("A100 SXM"), "none") << "those on A100 ran on software of 2021 and 2022";
  job.stack = &find_stack("megatron-2021");
  EXPECT_EQ(kind("A100 SXM"), "TP and PP, A100");
  EXPECT_EQ(kind("H100 SXM"), "none") << "and no such software ran on H100";
  job.stack = &find_stack("compiled");
  EXPECT_EQ(kind("H100 SXM"), "none") << "without sharded parameters all were Megatron-Core's";
  job.stack = &find_stack("megatron");
  EXPECT_EQ(kind("H200 SXM"), "none") << "no published step was compared";
  job.precision = Precision::fp8;
  EXPECT_EQ(kind("H100 SXM"), "TP, PP, CP; H100, FP8 or FP4");
  job.sharding = Sharding::fsdp_full;
  EXPECT_EQ(kind("H100 SXM"), "FSDP");
  job.sharding = Sharding::zero3;
  job.dp = 512;
  job.stack = &find_stack("fsdp");
  EXPECT_EQ(kind("A100 SXM"), "none") << "the published ones are DeepSpeed's of 2021";
  job.stack = &find_stack("megatron-2021");
  EXPECT_EQ(kind("A100 SXM"), "ZeRO-3");
  EXPECT_EQ(kind("H100 SXM"), "none") << "the published ones are on A100";
  job.tp = 8;
  EXPECT_EQ(kind("A100 SXM"), "none") << "and data parallel alone";
  job.tp = 1;
  job.dp = 32;
  EXPECT_EQ(kind("A100 SXM"), "none") << "on 384 GPUs and more";
  job.sharding = Sharding::optimizer;
  job.model = find_model("mixtral-8x7b").shape;
  job.stack = &find_stack("megatron");
  EXPECT_EQ(kind("H100 SXM"), "none") << "all published ones were on Blackwell";
  EXPECT_EQ(kind("GB200"), "experts, Blackwell; stack told");
  given = false;
  EXPECT_EQ(kind("GB200"), "none") << "theirs was given";
  job.sharding = Sharding::fsdp_full;
  EXPECT_EQ(kind("H100 SXM"), "none") << "those with sharded parameters had no experts";
}

}  // namespace
}  // namespace collbench::analysis::published_error_test
