#include "tools/plan/step/plan.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "base/error.hpp"
#include "tests/analysis/models/nccl/clusters.hpp"
#include "tools/plan/job/model_catalog.hpp"

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
  EXPECT_DOUBLE_EQ(plan.cost->megawatt_hours, plan.cost->gpu_hours * 1275 * 1.2 / 1e6);
  const MemoryUse& use = plan.memory;
  EXPECT_DOUBLE_EQ(use.sum(), use.parameters + use.gradients + use.optimizer + use.activations + use.logits +
                                  use.gathered + use.allocator + use.framework);
}

// Megatron-LM dist_optimizer.md: 20 bytes a parameter in FP16 and 18 with FP32 gradients, 4 + 16/d and 6 +
// 12/d where the optimizer is sharded. Beyond it as in ZeRO, figure 1.
TEST(MemoryUse, StatesAreThoseOfTheStacksTable) {
  TrainingJob job{.model = {.name = "7.5 B", .layers = 1, .hidden = 2, .ffn = 1, .heads = 1, .kv_heads = 1},
                  .sequence = 1,
                  .global_batch = 64,
                  .dp = 64,
                  .precision = Precision::fp16,
                  .stack = &find_stack("megatron-2021")};
  job.model.vocab = 7'500'000'000 / 4;  // 7.5e9 parameters are the two embeddings
  const auto bytes = [&](Sharding sharding) {
    job.sharding = sharding;
    const MemoryUse use = memory_use(job);
    return (use.parameters + use.gradients + use.optimizer) / 7.5e9;
  };
  EXPECT_NEAR(bytes(Sharding::none), 20, 0.01);
  EXPECT_NEAR(bytes(Sharding::optimizer), 4 + 16.0 / 64, 0.01);
  EXPECT_NEAR(bytes(Sharding::gradients), 2 + 18.0 / 64, 0.01);
  EXPECT_NEAR(bytes(Sharding::zero3), 20.0 / 64, 0.01);
  job.precision = Precision::bf16;
  EXPECT_NEAR(bytes(Sharding::none), 18, 0.01);
  EXPECT_NEAR(bytes(Sharding::optimizer), 6 + 12.0 / 64, 0.01);
}

// By hand: 24 micro-batches of 2,048 tokens in flight over four layers, each 10 h, 24 h / 8 and 5 a s / 8
// bytes a token (Korthikanti et al. 2022, equation 2), and the result of the stage, 2 h.
TEST(MemoryUse, AStackOf2021KeepsMasksAndResults) {
  const TrainingJob job{.model = find_model("gpt3-175b").shape,
                        .sequence = 2048,
                        .global_batch = 1536,
                        .tp = 8,
                        .pp = 24,
                        .dp = 2,
                        .sharding = Sharding::none,
                        .precision = Precision::fp16,
                        .stack = &find_stack("megatron-2021")};
  const double layer = 10 * 12288 + 24.0 * 12288 / 8 + 5.0 * 96 * 2048 / 8;
  EXPECT_DOUBLE_EQ(memory_use(job).activations, 24 * 2048 * (4 * layer + 2 * 12288));
}

// BLOOM's sweep: an eighth more in use than needed, the median of 25 steps.
TEST(MemoryUse, AStackOf2021HoldsMoreThanItNeeds) {
  TrainingJob job{.model = find_model("gpt3-175b").shape,
                  .sequence = 2048,
                  .global_batch = 1536,
                  .tp = 8,
                  .pp = 12,
                  .dp = 4,
                  .precision = Precision::fp16,
                  .stack = &find_stack("megatron-2021")};
  const MemoryUse use = memory_use(job);
  EXPECT_NEAR(use.allocator, 0.12 / 1.12 * use.sum(), 1);
  job.stack = &find_stack("megatron");
  EXPECT_EQ(memory_use(job).allocator, 0);
}

TrainingJob job_of(const char* model, int pp) {
  return {.model = find_model(model).shape,
          .sequence = 4096,
          .global_batch = 128,
          .pp = pp,
          .stack = &find_stack("megatron")};
}

// By hand, per token and layer: 8 h; 2 bytes of 128 heads' queries and keys of 128 + 64 and values and
// results of 128; the latent ones, before and behind their norms; eight routed experts of 2048 with their
// input, and the shared one.
TEST(MemoryUse, LatentAttentionKeepsItsOwnWidths) {
  const TrainingJob job = job_of("deepseek-v3", 1);
  const double latents = 2 * (1536 + 512 + 64) + 2 * (1536 + 512);
  const double per_token =
      8 * 7168 + 2.0 * 128 * (2 * 192 + 2 * 128) + latents + 8 * (2 * 7168 + 6 * 2048) + 6 * 2048;
  EXPECT_DOUBLE_EQ(memory_use(job).activations, 61 * 4096 * per_token);
}

// By hand: norms keep what they read of 64 + 4 heads of 128, and in FP8 the product behind attention its
// input.
TEST(MemoryUse, NormsOfHeadsAndNarrowInputsAreKept) {
  TrainingJob job = job_of("qwen3-235b-a22b", 1);
  const double layers = 94 * 4096.0;
  const double with_norms = memory_use(job).activations;
  job.model.qk_norm = false;
  EXPECT_DOUBLE_EQ(with_norms - memory_use(job).activations, layers * 2 * (64 + 4) * 128);
  const double bf16 = memory_use(job).activations;
  job.precision = Precision::fp8;
  const double narrower = 2 * 4096 + 8 * (4096 + 1536);
  EXPECT_DOUBLE_EQ(bf16 - memory_use(job).activations, layers * (narrower - 64 * 128));
}

// The scores of a layer, while its backward pass has computed them again: 5 a s of a token.
TEST(MemoryUse, OneLayersScoresComeBack) {
  TrainingJob job = job_of("gpt3-175b", 1);
  job.recompute = Recompute::selective;
  const double fused = memory_use(job).activations;
  job.attention = AttentionKernel::unfused;
  EXPECT_DOUBLE_EQ(memory_use(job).activations - fused, 4096 * 5.0 * 96 * 4096);
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
  request.sequence = 9216;
  const TrainingPlan plan = planned(request);
  EXPECT_TRUE(plan.may_not_fit());
  EXPECT_LT(plan.memory_part(), kRefusedOfCapacity);
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
    EXPECT_NE(std::string(error.what()).find("611 of 80 GB"), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find("with tp 1, pp 1, cp 1, mbs 1"), std::string::npos)
        << error.what();
  }
  request.may_exceed_memory = true;
  EXPECT_GT(planned(request).memory.sum(), 80e9);
}

// Seeds of the field: 466 interruptions in 54 days are one in 2.8 h; a checkpoint of 5 s then every 5.3 min.
TEST(Goodput, IsDalysExponentialForm) {
  const double mtbf = 54 * 86400.0 / 466;
  const Goodput found = goodput(16384, 54.0 * 24 * 16384 / 466, {.stop_seconds = 5}, 600);
  EXPECT_NEAR(found.fleet_mtbf_seconds, mtbf, 1e-6);
  EXPECT_NEAR(found.interval_seconds / 60, 5.3, 0.1);
  const double first_order = 1 - 5 / found.interval_seconds - (found.interval_seconds / 2 + 600) / mtbf;
  EXPECT_NEAR(found.useful_part, first_order, 0.01) << "where interruptions are rare both say the same";
  EXPECT_GT(found.useful_part, 0.9) << "what The Llama 3 Herd says of it";
  // One interruption in 1,365 s: the first order says 35 %.
  EXPECT_NEAR(goodput(1365, 1365.0 * 1365 / 3600, {}, 600).useful_part, 0.511, 0.02);
  EXPECT_TRUE(goodput(1365, 1365.0 * 1365 / 3600, {}, 600).advances());
  EXPECT_GT(goodput(1e5, 5e3, {}, 600).useful_part, 0);
  EXPECT_FALSE(goodput(1e8, 50000, {}, 600).advances());
  const Goodput beside = goodput(16384, 50700, {.stop_seconds = 1, .write_seconds = 900}, 600);
  EXPECT_GE(beside.interval_seconds, 900) << "one at a time";
  EXPECT_LT(beside.useful_part, goodput(16384, 50700, {.stop_seconds = 1}, 600).useful_part);
}

TEST(Plan, ACheckpointStopsTheStepAsItsWritingSays) {
  PlanRequest request = recipe();
  EXPECT_NEAR(planned(request).checkpoint.bytes, 14 * 70.55e9, 1e9);
  request.storage_gbps = 100;
  const Checkpoint written = planned(request).checkpoint;
  EXPECT_DOUBLE_EQ(written.stop_seconds, written.bytes / 100e9);
  request.async_checkpoint = true;
  const Checkpoint beside = planned(request).checkpoint;
  EXPECT_DOUBLE_EQ(beside.write_seconds, written.stop_seconds);
  EXPECT_LT(beside.stop_seconds, 1) << "the copy to host memory";
  request.checkpoint_seconds = 4;
  EXPECT_EQ(planned(request).checkpoint.stop_seconds, 4);
  request.storage_gbps.reset();
  EXPECT_THROW((void)planned(request), Error) << "how long it is written is not known";
}

// 10.2 kW for a DGX of eight, 5.6 kW of them its boards.
TEST(Plan, PowerIsThatOfWholeServers) {
  PlanRequest request = recipe();
  EXPECT_NEAR(planned(request).megawatts, 128 * 10.2e-3 * 1.2, 1e-3);
  EXPECT_NEAR(planned(request).cost->megawatt_hours,
              planned(request).megawatts * planned(request).cost->days * 24, 1);
  request.power_limit_watts = 500;
  EXPECT_NEAR(planned(request).megawatts, 128 * (10.2e-3 - 8 * 200e-6) * 1.2, 1e-3);
}

TEST(Plan, TheErrorIsKnownUpToTheGpusThatWereCompared) {
  PlanRequest request = recipe();
  ASSERT_NE(planned(request).published, nullptr);
  request.precision = Precision::fp8;
  EXPECT_EQ(planned(request).published->most_gpus, 2304);
  request.n_gpus = 4096;
  EXPECT_EQ(planned(request).published, nullptr);
}

// DeepSeek-V3, section 3: 2,048 H800, 16 stages, experts over 64, no tensor parallelism, in FP8.
TEST(Plan, DeepSeekV3FitsAsItWasTrained) {
  PlanRequest request;
  request.model = find_model("deepseek-v3").shape;
  request.topology = "hgx-h100";
  request.gpu = "H800";
  request.n_gpus = 2048;
  request.pp = 16, request.ep = 64;
  request.sequence = 4096, request.global_batch = 15360;
  request.precision = Precision::fp8;
  EXPECT_THROW((void)planned(request), Error);
  request.recompute = Recompute::modules;
  request.schedule = Schedule::dualpipe;
  const TrainingPlan plan = planned(request);
  EXPECT_LT(plan.memory_part(), kNearlyFull);
  request.schedule = Schedule::one_forward_one_backward;
  request.may_exceed_memory = true;
  const TrainingPlan usual = planned(request);
  EXPECT_LT(plan.step_seconds, usual.step_seconds);
  EXPECT_DOUBLE_EQ(plan.memory.parameters, 2 * usual.memory.parameters);
  // Four layers of 17 micro-batches on any stage; of 15 on the second one.
  EXPECT_DOUBLE_EQ(plan.memory.activations / usual.memory.activations, 17.0 / 15);
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

// Qi et al. 2023, table 1: activations of p micro-batches, on the last stage too.
TEST(MemoryUse, WithoutBubblesEveryStageKeepsAsManyAsTheFirst) {
  TrainingJob job = job_of("llama-3.1-8b", 8);
  const double usual = memory_use(job).activations;
  job.schedule = Schedule::zb_h1;
  EXPECT_DOUBLE_EQ(memory_use(job).activations, usual);
  // 61 layers over four stages: 15, 16, 16 and 14; with 1F1B the second keeps three micro-batches.
  TrainingJob uneven = job_of("deepseek-v3", 4);
  const double first = memory_use(uneven).activations;
  uneven.schedule = Schedule::zb_h1;
  EXPECT_GT(memory_use(uneven).activations, first);
}

TEST(Plan, SaysWhereItsGroupsLie) {
  PlanRequest request = recipe();
  request.fabric = parse_fabric("rail-optimized,leaf=32,oversubscription=2", "--fabric");
  const TrainingPlan plan = planned(request);
  ASSERT_EQ(plan.placement.size(), 4U);  // TP, CP, DP × CP, PP
  EXPECT_EQ(plan.placement[0].ranks_in_domain, 4);
  EXPECT_EQ(plan.placement[2].ranks, 64);
  EXPECT_EQ(plan.placement[2].crossings.hops_outside, 0);
  EXPECT_EQ(plan.placement[3].first_ranks, (std::vector<int>{0, 256, 512, 768}));
  EXPECT_EQ(plan.placement[3].crossings.hops_outside, 4);
  EXPECT_EQ(plan.placement[3].fabric_share, 0.5);
  EXPECT_GT(plan.step_seconds, planned(recipe()).step_seconds);
  request.n_gpus = 8, request.pp = 1, request.vpp = 1, request.cp = 1;
  EXPECT_THROW(planned(request), Error) << "one node has no fabric";
}

TEST(Plan, AScheduleHasToAgreeWithItsChunks) {
  PlanRequest request = recipe();
  request.interleaved = true;
  EXPECT_NO_THROW(planned(request));
  request.interleaved = false;
  EXPECT_THROW(planned(request), Error);
  request.vpp = 1;
  EXPECT_NO_THROW(planned(request));
  request.schedule = Schedule::zb_h1, request.interleaved = std::nullopt;
  EXPECT_EQ(planned(request).published, nullptr) << "no published step ran so";
}

}  // namespace
}  // namespace collbench::analysis::plan_test
