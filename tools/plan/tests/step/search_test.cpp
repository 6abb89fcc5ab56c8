#include "tools/plan/step/search.hpp"

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "tests/analysis/models/nccl/clusters.hpp"
#include "tools/plan/job/model_catalog.hpp"

namespace collbench::analysis::search_test {
namespace {

PlanRequest request_for(const char* model, int gpus, int batch) {
  PlanRequest request;
  request.model = find_model(model).shape;
  request.topology = "hgx-h100";
  request.sequence = 4096;
  request.n_gpus = gpus;
  request.global_batch = batch;
  return request;
}

GpuCluster hgx() { return cluster_of("hgx-h100", 1); }

/// The fastest step of a search with loops of its own, over what both can choose: without the search's rules.
double fastest_by_hand(const PlanRequest& request) {
  double fastest = 1e9;
  for (const int tp : {1, 2, 4, 8}) {
    for (const int pp : {1, 2, 4, 8, 16}) {
      for (const int mbs : {1, 2, 4, 8, 16}) {
        for (const Recompute recompute : {Recompute::none, Recompute::full}) {
          PlanRequest split = request;
          split.tp = tp, split.pp = pp, split.cp = 1, split.micro_batch = mbs, split.recompute = recompute;
          split.vpp = pp > 1 ? std::optional(1) : std::nullopt;
          split.sharding = Sharding::optimizer;
          try {
            const TrainingPlan plan = training_plan(split, hgx());
            if (plan.memory_part() <= kNearlyFull) fastest = std::min(fastest, plan.step_seconds);
          } catch (const Error&) {
            continue;
          }
        }
      }
    }
  }
  return fastest;
}

TEST(FastestSplits, IsTheFastestOfAllThatFit) {
  PlanRequest request = request_for("llama-3.1-8b", 16, 64);
  request.cp = 1;
  request.vpp = 1;
  request.sharding = Sharding::optimizer;
  // With vpp 1 given a job without a pipeline is the same.
  const SplitSearch found = fastest_splits(request, hgx(), 1);
  ASSERT_EQ(found.best.size(), 1U);
  request.vpp = std::nullopt;
  EXPECT_DOUBLE_EQ(found.best.front().step_seconds, fastest_by_hand(request));
}

TEST(FastestSplits, KeepsWhatIsGivenAndOrdersByTime) {
  PlanRequest request = request_for("llama-3.1-70b", 128, 512);
  request.tp = 8;
  const SplitSearch found = fastest_splits(request, hgx(), 10);
  ASSERT_GT(found.best.size(), 3U);
  EXPECT_GT(found.tried, found.fitting);
  for (std::size_t i = 0; i < found.best.size(); ++i) {
    const TrainingPlan& plan = found.best[i];
    EXPECT_EQ(plan.job.tp, 8);
    EXPECT_EQ(plan.job.global_batch, 512);
    EXPECT_EQ(plan.job.gpus(), 128);
    EXPECT_LE(plan.memory_part(), 1);
    EXPECT_FALSE(why_illegal(plan.job));
    if (i > 0) {
      EXPECT_GE(plan.step_seconds, found.best[i - 1].step_seconds);
    }
  }
}

TEST(FastestSplits, SpreadsExperts) {
  const SplitSearch found = fastest_splits(request_for("mixtral-8x7b", 64, 256), hgx(), 1);
  ASSERT_FALSE(found.best.empty());
  EXPECT_EQ(8 % found.best.front().job.ep, 0);
}

// More divisors than a search can walk through one by one, on as many GPUs as can be given.
TEST(FastestSplits, EndsWithAsManyExpertsAsCanBeGiven) {
  PlanRequest request = request_for("mixtral-8x7b", 9'979'200, 1);
  request.model.experts.count = 2520;
  request.model.layers = 10'000;
  request.tp = 8, request.micro_batch = 1, request.cp = 1;
  request.global_batch = 9'979'200;
  request.sharding = Sharding::optimizer;
  EXPECT_GT(fastest_splits(request, hgx(), 1).tried, 1000U);
}

// Software does not split what it cannot: Megatron-LM of 2021 had no context parallelism, FSDP alone has no
// tensor parallelism, and Megatron-LM of 2021 no stages of unequal layers. And no group of tensor parallelism
// lies in two NVLink domains.
TEST(FastestSplits, IsOneThatTheSoftwareCanRun) {
  PlanRequest request = request_for("gpt3-175b", 96, 96);
  request.stack = &find_stack("megatron-2021");
  request.model.layers = 80;
  for (const TrainingPlan& plan : fastest_splits(request, hgx(), 100).best) {
    EXPECT_EQ(plan.job.cp, 1);
    EXPECT_EQ(80 % plan.job.pp, 0) << "12 and 24 stages of 96 GPUs would differ";
    EXPECT_NE(plan.job.recompute, Recompute::selective);
    EXPECT_EQ(8 % plan.job.tp, 0) << "96 heads divide by 3, 6 and 12, a node of eight does not";
  }
  request = request_for("llama-3.1-8b", 16, 64);
  request.stack = &find_stack("fsdp");
  request.sharding = Sharding::fsdp_full;
  for (const TrainingPlan& plan : fastest_splits(request, hgx(), 100).best) EXPECT_EQ(plan.job.tp, 1);
}

TEST(FastestSplits, FindsNothingWhereNothingFits) {
  const SplitSearch found = fastest_splits(request_for("llama-3.1-405b", 8, 8), hgx(), 1);
  EXPECT_TRUE(found.best.empty());
  EXPECT_EQ(found.fitting, 0U);
  EXPECT_GT(found.tried, 0U);
}

TEST(Refusal, NamesASplitThatFits) {
  PlanRequest request = request_for("llama-3.1-70b", 64, 64);
  request.names_a_fit = true;
  const auto next_step = [&] {
    try {
      static_cast<void>(training_plan(request, hgx()));
    } catch (const Error& error) {
      return error.next_step();
    }
    return std::string("planned");
  };
  EXPECT_NE(next_step().find("give --tp "), std::string::npos) << next_step();
  request.pp = 1;
  request.tp = 1;
  request.sharding = Sharding::none;
  EXPECT_NE(next_step().find("nothing fits with the split that is given"), std::string::npos) << next_step();
  request.n_gpus = 8;
  request.global_batch = 8;
  request.model = find_model("llama-3.1-405b").shape;
  EXPECT_NE(next_step().find("no split of it over 8 GPUs fits"), std::string::npos) << next_step();
}

TEST(Refusal, ItsOptionsAreThoseOfTheJob) {
  TrainingJob job{.model = find_model("llama-3.1-8b").shape, .micro_batch = 2, .tp = 4, .pp = 2, .vpp = 4};
  job.sharding = Sharding::fsdp_full;
  job.shard_group = 16;
  EXPECT_EQ(split_options(job), "--tp 4 --pp 2 --vpp 4 --mbs 2 --fsdp 16 --recompute none");
}

}  // namespace
}  // namespace collbench::analysis::search_test
