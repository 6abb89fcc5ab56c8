#include "tools/plan/job/job.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <numeric>

#include "base/error.hpp"
#include "tools/plan/job/model_catalog.hpp"
#include "tools/plan/step/plan.hpp"

namespace collbench::analysis::job_test {
namespace {

TrainingJob job_of(const char* model, const std::function<void(TrainingJob&)>& change = {}) {
  TrainingJob job{.model = find_model(model).shape,
                  .sequence = 8192,
                  .global_batch = 2048,
                  .tp = 8,
                  .pp = 16,
                  .dp = 128,
                  .stack = &find_stack("megatron")};
  if (change) change(job);
  return job;
}

TEST(Job, StagesOfUnevenLayersHoldThemAll) {
  // 126 + 2 over 16: seven layers at both ends, eight between.
  const std::vector<int> layers = layers_of_stages(job_of("llama-3.1-405b"));
  EXPECT_EQ(layers.front(), 7);
  EXPECT_EQ(layers.back(), 7);
  EXPECT_EQ(layers[7], 8);
  for (const int stages : {1, 2, 3, 4, 7, 9, 16, 61}) {
    const TrainingJob job = job_of("deepseek-v3", [&](TrainingJob& each) { each.pp = stages; });
    const std::vector<int> parts = layers_of_stages(job);
    EXPECT_EQ(std::accumulate(parts.begin(), parts.end(), 0), 61) << stages;
  }
}

TEST(Job, WhatCannotRunIsRefusedByTheOptionThatIsWrong) {
  const auto option = [](const std::function<void(TrainingJob&)>& change) {
    const auto illegal = why_illegal(job_of("llama-3.1-405b", change));
    return illegal ? illegal->option : "";
  };
  EXPECT_EQ(option({}), "");
  EXPECT_EQ(option([](TrainingJob& job) { job.tp = 3; }), "--tp");
  EXPECT_EQ(option([](TrainingJob& job) {
              job.pp = 127;
              job.vpp = 2;
            }),
            "--pp");
  EXPECT_EQ(option([](TrainingJob& job) {
              job.pp = 1;
              job.vpp = 2;
            }),
            "--vpp");
  EXPECT_EQ(option([](TrainingJob& job) { job.global_batch = 2049; }), "--gbs");
  EXPECT_EQ(option([](TrainingJob& job) { job.cp = 3; }), "--cp");
  EXPECT_EQ(option([](TrainingJob& job) { job.ep = 2; }), "--ep");
  EXPECT_EQ(option([](TrainingJob& job) { job.shard_group = 3; }), "--fsdp");
}

PlanRequest request_of(const char* model) {
  PlanRequest request;
  request.model = find_model(model).shape;
  request.usual_sequence = find_model(model).sequence;
  return request;
}

TEST(CompleteJob, SaysEveryDefaultThatItTakes) {
  std::vector<TakenDefault> defaults;
  const TrainingJob job = complete_job(request_of("llama-3.1-70b"), 16, 8, defaults);
  EXPECT_EQ(job.dp, 16);
  EXPECT_EQ(job.sequence, 8192);
  EXPECT_EQ(job.stack->name, "megatron");
  std::vector<std::string> options;
  for (const TakenDefault& each : defaults) options.push_back(each.option);
  EXPECT_EQ(options, (std::vector<std::string>{"seq", "tp", "pp", "cp", "mbs", "gbs", "zero", "precision",
                                               "recompute", "stack"}));
}

TEST(CompleteJob, TheStackFollowsTheSharding) {
  const auto stack = [](std::optional<int> tp, std::optional<Sharding> sharding) {
    PlanRequest request = request_of("llama-3.1-70b");
    request.tp = tp;
    request.sharding = sharding;
    std::vector<TakenDefault> defaults;
    return std::string(complete_job(request, 64, 8, defaults).stack->name);
  };
  EXPECT_EQ(stack(8, {}), "megatron");
  EXPECT_EQ(stack({}, Sharding::fsdp_full), "fsdp");
  EXPECT_EQ(stack(8, Sharding::fsdp_full), "compiled");
}

TEST(CompleteJob, TheStackOfExpertsFollowsTheMachine) {
  const auto stack = [](const char* model, int domain, int ep = 1) {
    PlanRequest request = request_of(model);
    request.ep = ep;
    std::vector<TakenDefault> defaults;
    return std::string(complete_job(request, 64, domain, defaults).stack->name);
  };
  EXPECT_EQ(stack("qwen3-30b-a3b", 8), "megatron-eager");
  EXPECT_EQ(stack("qwen3-30b-a3b", 72), "megatron");
  EXPECT_EQ(stack("qwen3-8b", 8), "megatron");
  EXPECT_EQ(stack("deepseek-v3", 8), "megatron-eager");
  EXPECT_EQ(stack("deepseek-v3", 8, 64), "megatron") << "by DeepEP over several nodes";
  EXPECT_EQ(stack("qwen3-30b-a3b", 8, 64), "megatron-eager");
}

TEST(CompleteJob, GpusThatTheParallelismDoesNotMakeAreRefused) {
  PlanRequest request = request_of("llama-3.1-70b");
  request.tp = 8;
  request.pp = 3;
  std::vector<TakenDefault> defaults;
  EXPECT_THROW((void)complete_job(request, 64, 8, defaults), Error);
  request.pp = 4;
  request.dp = 4;
  EXPECT_THROW((void)complete_job(request, 64, 8, defaults), Error);
  request.dp = 2;
  EXPECT_EQ(complete_job(request, 64, 8, defaults).gpus(), 64);
}

// Products of options of ten million each do not fit into an int, nor three of them into 64 bits.
TEST(CompleteJob, NumbersBeyondAnyMachineAreRefused) {
  const auto refusal = [](const std::function<void(PlanRequest&)>& change) -> std::string {
    PlanRequest request = request_of("llama-3.1-70b");
    change(request);
    std::vector<TakenDefault> defaults;
    try {
      const auto illegal = why_illegal(complete_job(request, 8, 8, defaults));
      return illegal ? illegal->what : "";
    } catch (const Error& error) {
      return error.what();
    }
  };
  EXPECT_NE(refusal([](PlanRequest& each) { each.tp = each.pp = 65536; }).find("is more than 8 GPUs"),
            std::string::npos);
  EXPECT_NE(refusal([](PlanRequest& each) {
              each.tp = each.pp = each.cp = 10'000'000;
            }).find("is more than 8 GPUs"),
            std::string::npos);
  EXPECT_NE(refusal([](PlanRequest& each) { each.dp = 10'000'000; }).find("= 10000000 GPUs"),
            std::string::npos);
  EXPECT_NE(refusal([](PlanRequest& each) {
              each.pp = 8;
              each.vpp = 1 << 29;  // times 8: 0 in 32 bits
            }).find("chunks are more than 80 layers"),
            std::string::npos);
  EXPECT_NE(refusal([](PlanRequest& each) {
              each.micro_batch = 1 << 29;  // times 8 ranks: 0 in 32 bits
              each.global_batch = 8;
            }).find("samples do not divide"),
            std::string::npos);
  EXPECT_NE(refusal([](PlanRequest& each) { each.micro_batch = 1 << 29; }).find("too many samples"),
            std::string::npos);
}

TEST(Job, AScheduleWithoutBubblesIsRefusedWhereItCannotRun) {
  const auto refused = [](const std::function<void(TrainingJob&)>& change) {
    TrainingJob job = job_of("llama-3.1-70b");
    job.schedule = Schedule::zb_h1;
    change(job);
    const auto illegal = why_illegal(job);
    return illegal ? illegal->option + ": " + illegal->what : "";
  };
  EXPECT_EQ(refused([](TrainingJob&) {}), "");
  EXPECT_NE(refused([](TrainingJob& job) { job.pp = 1; }).find("--schedule: zb-h1 needs at least two stages"),
            std::string::npos);
  EXPECT_NE(refused([](TrainingJob& job) { job.vpp = 2; }).find("has no chunks"), std::string::npos);
  EXPECT_NE(refused([](TrainingJob& job) { job.recompute = Recompute::full; }).find("recomputing everything"),
            std::string::npos);
  EXPECT_NE(refused([](TrainingJob& job) { job.global_batch = 128 * 15; }).find("a rank has 15"),
            std::string::npos);
}

// parallel_state.py: pp last, or as many data-parallel ranks of experts as of the rest.
TEST(Job, AnOrderIsRefusedWhereExpertsHaveOtherStages) {
  TrainingJob job = job_of("mixtral-8x7b", [](TrainingJob& each) {
    each.tp = 2, each.pp = 4, each.ep = 8, each.dp = 16, each.global_batch = 256;
  });
  EXPECT_FALSE(why_illegal(job));
  job.order = parse_rank_order("tp-cp-ep-pp-dp", "--order");
  ASSERT_TRUE(why_illegal(job));
  EXPECT_EQ(why_illegal(job)->option, "--order");
  job.ep = 2;
  EXPECT_FALSE(why_illegal(job));
}

}  // namespace
}  // namespace collbench::analysis::job_test
