#include "analysis/plan/step.hpp"

#include <gtest/gtest.h>

#include <functional>

#include "analysis/plan/group_time.hpp"
#include "analysis/plan/model_catalog.hpp"
#include "tests/analysis/models/nccl/clusters.hpp"

namespace collbench::analysis::step_test {
namespace {

/// NVIDIA's recipe of Llama 3.1 70B on 1,024 H100 (dgxc-benchmarking v25.02.02): 14.86 s measured.
TrainingJob recipe() {
  return {.model = find_model("llama-3.1-70b").shape,
          .sequence = 8192,
          .global_batch = 2048,
          .tp = 4,
          .pp = 4,
          .vpp = 5,
          .cp = 2,
          .dp = 32,
          .stack = &find_stack("megatron")};
}

ComputeRates h100() { return {.gpu = &find_training_gpu("H100 SXM", "--gpu")}; }

double seconds_of(const TrainingJob& job, const GpuCluster& machine = cluster_of("hgx-h100", 1)) {
  return step_time(job, machine, h100()).seconds();
}

const StepTerm& term_of(const Step& step, StepPart part) {
  for (const StepTerm& term : step.terms) {
    if (term.part == part) return term;
  }
  static const StepTerm none{};
  return none;
}

TEST(Step, NvidiasRecipeTakesWhatNvidiaMeasured) { EXPECT_NEAR(seconds_of(recipe()), 14.86, 0.1 * 14.86); }

// By hand: bytes of ring collectives that one GPU sends in a step (Narayanan et al. 2021, section 3.2).
TEST(Step, BytesAreThoseOfACountByHand) {
  const TrainingJob job = recipe();
  const Step step = step_time(job, cluster_of("hgx-h100", 1), h100());
  const double activation = 2.0 * 4096 * 8192;  // b s/c h
  // 20 layers, 64 micro-batches, four times AllGather and ReduceScatter of which each moves 3/4.
  EXPECT_DOUBLE_EQ(term_of(step, StepPart::tp).bytes, 64 * 20 * 4 * 2 * activation * 3 / 4);
  // Forward and backward, for each of five chunks, split over four ranks.
  EXPECT_DOUBLE_EQ(term_of(step, StepPart::pp).bytes, 64 * 2 * 5 * activation / 4);
  // Keys and values of 8 of 64 heads, once forward and twice backward.
  EXPECT_DOUBLE_EQ(term_of(step, StepPart::cp).bytes, 64 * 20 * 3 * 2.0 * 4096 * 2 * 1024 / 4);
  const double layer = 2 * 8192.0 * 8192 + 2 * 8192.0 * 1024 + 3 * 8192.0 * 28672;
  const double parameters = (20 * layer + 8192.0 * 128256) / 4;
  EXPECT_DOUBLE_EQ(term_of(step, StepPart::dp).bytes, (4 + 2) * parameters * 63 / 64);
}

// AllGather of 2 bytes twice, ReduceScatter of FP32 gradients.
TEST(Step, FsdpReducesTheGradientsOfItsStack) {
  const TrainingJob job{.model = find_model("llama-3.1-8b").shape,
                        .sequence = 8192,
                        .global_batch = 8,
                        .dp = 8,
                        .sharding = Sharding::fsdp_full,
                        .stack = &find_stack("fsdp")};
  const Step step = step_time(job, cluster_of("hgx-h100", 1), h100());
  const double parameters = count_parameters(job.model).total;
  EXPECT_NEAR(term_of(step, StepPart::dp).bytes, (2 + 2 + 4) * parameters * 7 / 8, 1e6);
}

TEST(Job, RecomputingDoesNotSwitchSequenceParallelismOn) {
  TrainingJob job = recipe();
  job.stack = &find_stack("megatron-2021");
  job.recompute = Recompute::selective;
  EXPECT_FALSE(job.has_sequence_parallel());
  job.sequence_parallel = true;
  EXPECT_TRUE(job.has_sequence_parallel());
}

TEST(Step, FasterLinksAreNeverSlower) {
  for (const Sharding sharding : {Sharding::optimizer, Sharding::fsdp_full}) {
    TrainingJob job = recipe();
    job.sharding = sharding;
    if (sharding == Sharding::fsdp_full) job.pp = job.vpp = 1, job.dp = 128;
    double last = 1e30;
    for (const double gigabytes : {1.0, 6.25, 25.0, 50.0, 100.0}) {
      GpuCluster machine = cluster_of("hgx-h100", 1);
      machine.nic_line_rate = gigabytes;
      const double seconds = seconds_of(job, machine);
      EXPECT_LE(seconds, last);
      last = seconds;
    }
  }
}

TEST(Step, TensorParallelismAcrossNodesIsSlowerThanInside) {
  for (const char* model : {"llama-3.1-70b", "llama-3.1-405b", "nemotron-4-340b", "gpt3-175b"}) {
    TrainingJob job = recipe();
    job.model = find_model(model).shape;
    job.cp = 1;
    job.vpp = 1;
    job.tp = 8;
    job.dp = 32;
    TrainingJob across = job;
    across.tp = 16;
    across.dp = 16;
    EXPECT_GT(seconds_of(across), seconds_of(job)) << model;
  }
}

TEST(Step, HalfTheCostOfAPartTakesNoMoreThanThatPartOff) {
  const TrainingJob job = recipe();
  const GpuCluster machine = cluster_of("hgx-h100", 1);
  const Step whole = step_time(job, machine, h100());
  for (const StepTerm& term : whole.terms) {
    PartScales half;
    half.factor[static_cast<std::size_t>(term.part)] = 0.5;
    const double seconds = step_time(job, machine, h100(), half).seconds();
    EXPECT_LE(seconds, whole.seconds()) << name(term.part);
    EXPECT_GE(seconds, whole.seconds() / 2) << name(term.part);
  }
}

TEST(Step, TheBubbleShrinksWithChunksAndMicroBatches) {
  const auto bubble = [](int vpp, int batch) {
    TrainingJob job = recipe();
    job.vpp = vpp;
    job.global_batch = batch;
    const Step step = step_time(job, cluster_of("hgx-h100", 1), h100());
    return term_of(step, StepPart::bubble).exposed_seconds / step.seconds();
  };
  EXPECT_GT(bubble(1, 2048), 3 * bubble(5, 2048));
  EXPECT_GT(bubble(5, 256), 3 * bubble(5, 2048));
}

TEST(RankGroup, LiesWhereItsStridePutsIt) {
  const GpuCluster node = cluster_of("hgx-h100", 1);
  const RankGroup inside = rank_group(node, 4, 2);
  EXPECT_FALSE(inside.crosses_nodes());
  EXPECT_EQ(inside.cluster.ranks(), 4);
  const RankGroup across = rank_group(node, 64, 4);
  EXPECT_TRUE(across.crosses_nodes());
  EXPECT_EQ(across.cluster.ranks_per_node, 2);
  EXPECT_EQ(across.cluster.nodes, 32);
  EXPECT_EQ(across.cluster.nics, 2);  // the other six serve the groups beside it
  EXPECT_EQ(group_seconds(rank_group(node, 1, 1), OperationId::all_reduce, 1e9), 0);
  const RankGroup rack = rank_group(cluster_of("gb200-nvl72", 1), 32, 1);
  EXPECT_FALSE(rack.crosses_nodes());
  EXPECT_EQ(rack.cluster.ranks(), 32);
}

TEST(LayerTime, RecomputingAddsTheForwardPass) {
  TrainingJob job = recipe();
  const PassTime kept = layer_time(job, h100(), false);
  job.recompute = Recompute::full;
  const PassTime again = layer_time(job, h100(), false);
  EXPECT_DOUBLE_EQ(again.forward.sum(), kept.forward.sum());
  EXPECT_NEAR(again.backward.sum(), kept.backward.sum() + kept.forward.sum(), 1e-12);
}

TEST(TrainingGpu, NoRateIsAboveItsPeak) {
  for (const TrainingGpu& gpu : training_gpus()) {
    EXPECT_LT(gpu.gemm_bf16, gpu.peak_bf16) << gpu.name;
    EXPECT_LT(gpu.attention_forward, gpu.peak_bf16) << gpu.name;
    if (gpu.peak_fp8 > 0) {
      EXPECT_LT(gpu.gemm_fp8, gpu.peak_fp8) << gpu.name;
    }
    EXPECT_FALSE(gpu.source.empty());
  }
}

}  // namespace
}  // namespace collbench::analysis::step_test
