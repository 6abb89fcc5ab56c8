#include "analysis/plan/plan.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "analysis/plan/model_catalog.hpp"
#include "base/error.hpp"
#include "tests/analysis/models/nccl/clusters.hpp"

namespace collbench::analysis::plan_test {
namespace {

PlanRequest recipe() {
  PlanRequest request;
  request.model = find_model("llama-3.1-70b").shape;
  request.usual_sequence = 8192;
  request.topology = "hgx-h100";
  request.n_gpus = 1024;
  request.global_batch = 2048;
  request.tp = 4;
  request.pp = 4;
  request.cp = 2;
  request.vpp = 5;
  request.tokens = 1e12;
  request.price_per_gpu_hour = 3;
  return request;
}

TrainingPlan planned(const PlanRequest& request) { return training_plan(request, cluster_of("hgx-h100", 1)); }

TEST(Plan, SumsAreWhatTheirPartsSay) {
  const TrainingPlan plan = planned(recipe());
  double seconds = 0;
  for (const StepTerm& term : plan.step.terms) seconds += term.exposed_seconds;
  EXPECT_DOUBLE_EQ(seconds, plan.step_seconds);
  EXPECT_DOUBLE_EQ(plan.tokens_per_second_per_gpu, 2048.0 * 8192 / plan.step_seconds / 1024);
  EXPECT_DOUBLE_EQ(plan.mfu, plan.tokens_per_second_per_gpu *
                                 flops_per_token(plan.job.model, 8192, FlopConvention::full_attention) /
                                 989e12);
  EXPECT_DOUBLE_EQ(plan.cost->days * 86400 * plan.tokens_per_second_per_gpu * 1024, 1e12);
  EXPECT_DOUBLE_EQ(*plan.cost->dollars, 3 * plan.cost->gpu_hours);
  EXPECT_DOUBLE_EQ(plan.cost->megawatt_hours, plan.cost->gpu_hours * 700 * 1.2 / 1e6);
  const MemoryUse& use = plan.memory;
  EXPECT_DOUBLE_EQ(use.sum(), use.parameters + use.gradients + use.optimizer + use.activations + use.logits +
                                  use.gathered + use.framework);
}

// ZeRO, figure 1: 7.5 B parameters on 64 GPUs hold 120, 31.4, 16.6 and 1.9 GB of state.
TEST(MemoryUse, StatesAreThoseOfZero) {
  TrainingJob job{
      .model = {.name = "7.5 B", .layers = 1, .hidden = 1, .ffn = 1, .heads = 1, .kv_heads = 1, .vocab = 1},
      .sequence = 1,
      .global_batch = 64,
      .dp = 64,
      .stack = &find_stack("megatron-2021")};
  job.model.vocab = 7'500'000'000 / 4;
  job.model.hidden = 2;  // 7.5e9 parameters are the two embeddings
  const auto gigabytes = [&](Sharding sharding) {
    job.sharding = sharding;
    const MemoryUse use = memory_use(job);
    return (use.parameters + use.gradients + use.optimizer) / 1e9;
  };
  EXPECT_NEAR(gigabytes(Sharding::none), 120, 0.1);
  EXPECT_NEAR(gigabytes(Sharding::optimizer), 31.4, 0.1);
  EXPECT_NEAR(gigabytes(Sharding::gradients), 16.6, 0.1);
  EXPECT_NEAR(gigabytes(Sharding::zero3), 1.9, 0.1);
}

TrainingJob job_of(const char* model, int pp) {
  return {.model = find_model(model).shape,
          .sequence = 4096,
          .global_batch = 128,
          .pp = pp,
          .stack = &find_stack("megatron")};
}

// By hand, per token and layer: 10 h; 2 bytes of 128 heads' queries and keys of 128 + 64 and values and
// results of 128; eight routed experts of 2048 with their input, and the shared one.
TEST(MemoryUse, LatentAttentionKeepsItsOwnWidths) {
  const TrainingJob job = job_of("deepseek-v3", 1);
  const double per_token = 10 * 7168 + 2.0 * 128 * (2 * 192 + 2 * 128) + 8 * (2 * 7168 + 6 * 2048) + 6 * 2048;
  EXPECT_DOUBLE_EQ(memory_use(job).activations, 61 * 4096 * per_token);
}

TEST(StageParameters, TheFirstLayersOfAMixtureHaveNoExperts) {
  const TrainingJob job = job_of("deepseek-v3", 1);
  const StageParameters stage = stage_parameters(job);
  const double total = count_parameters(job.model).total;
  EXPECT_NEAR(stage.dense + stage.experts, total, 1e-9 * total);
}

// 126 layers: seven on the first of 16 stages, eight on the second, which keeps one micro-batch less.
TEST(MemoryUse, TheStageThatKeepsMostIsTheFullest) {
  TrainingJob job = job_of("llama-3.1-405b", 16);
  const TrainingJob one = job_of("llama-3.1-405b", 1);
  const double layer = memory_use(one).activations / 126;
  EXPECT_DOUBLE_EQ(memory_use(job).activations, 8 * 15 * layer);
  job.pp = 128;  // the first and the last stage hold no layer
  job.sharding = Sharding::fsdp_full;
  EXPECT_TRUE(std::isfinite(memory_use(job).sum()));
  EXPECT_LT(memory_use(job).gathered, 100e9);
}

TEST(Plan, WhatMayNotFitIsMarked) {
  PlanRequest request;
  request.model = find_model("llama-3.1-8b").shape;
  request.usual_sequence = 8192;
  request.tp = 2;
  EXPECT_FALSE(planned(request).may_not_fit());
  request.micro_batch = 2;
  const TrainingPlan plan = planned(request);
  EXPECT_TRUE(plan.may_not_fit());
  EXPECT_NEAR(plan.memory_part(), 82.0 / 80, 0.005);
}

TEST(Plan, HardwareFlopsHaveWhatSelectiveRecomputeDoesAgain) {
  PlanRequest request = recipe();
  request.recompute = Recompute::selective;
  const TrainingPlan plan = planned(request);
  const double attention = 4.0 * 80 * 8192 * 8192;  // 4·L·a·s
  EXPECT_NEAR(plan.hfu - plan.mfu, plan.tokens_per_second_per_gpu * attention / 989e12, 1e-9);
  EXPECT_EQ(planned(recipe()).hfu, planned(recipe()).mfu);
}

TEST(Plan, PricesNeedTokens) {
  PlanRequest request = recipe();
  request.tokens.reset();
  EXPECT_THROW((void)planned(request), Error);
}

TEST(Plan, WhatDoesNotFitIsRefusedWithItsSplit) {
  PlanRequest request = recipe();
  request.tp = request.pp = request.cp = 1;
  request.vpp.reset();
  try {
    (void)planned(request);
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("622 of 80 GB"), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find("with tp 1, pp 1, cp 1, mbs 1"), std::string::npos)
        << error.what();
  }
  request.may_exceed_memory = true;
  EXPECT_GT(planned(request).memory.sum(), 80e9);
}

// Seeds of the field: 466 interruptions in 54 days are one in 2.8 h; a checkpoint of 5 s then every 5.3 min.
TEST(Goodput, IsYoungsAndDalys) {
  const Goodput found = goodput(16384, 54.0 * 24 * 16384 / 466, 5, 600);
  EXPECT_NEAR(found.fleet_mtbf_seconds, 54 * 86400.0 / 466, 1e-6);
  EXPECT_NEAR(found.interval_seconds / 60, 5.3, 0.05);
  EXPECT_NEAR(found.useful_part,
              1 - 5 / found.interval_seconds - (found.interval_seconds / 2 + 600) / (54 * 86400.0 / 466),
              1e-12);
  EXPECT_EQ(goodput(1e9, 50000, 30, 600).useful_part, 0);
}

TEST(Plan, AnotherNetworkOrGpuReplacesTheTopologys) {
  PlanRequest request = recipe();
  const double usual = planned(request).step_seconds;
  request.nic_gbps_per_gpu = 10;
  EXPECT_GT(planned(request).step_seconds, 1.05 * usual);
  request = recipe();
  request.power_limit_watts = 350;
  EXPECT_GT(planned(request).step_seconds, 1.1 * usual);
  request = recipe();
  request.gpu = "GB200";
  EXPECT_LT(planned(request).step_seconds, 0.6 * usual);
  request.gpu = "T4";
  EXPECT_THROW((void)planned(request), Error);
  request = recipe();
  request.precision = Precision::fp4;
  EXPECT_THROW((void)planned(request), Error);
}

TEST(Assumptions, AreSetByNameWithinBounds) {
  Assumptions assumed;
  assume(assumed, "tp_exposed=0.5");
  EXPECT_EQ(assumed.tp_exposed, 0.5);
  for (const char* wrong : {"tp_exposed", "nothing=1", "tp_exposed=2", "tp_exposed=x", "tp_exposed=nan"})
    EXPECT_THROW(assume(assumed, wrong), Error) << wrong;
  EXPECT_EQ(assumed.tp_exposed, 0.5);
}

}  // namespace
}  // namespace collbench::analysis::plan_test
