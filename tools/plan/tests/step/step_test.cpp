#include "tools/plan/step/step.hpp"

#include <gtest/gtest.h>

#include <string>

#include "tests/analysis/models/nccl/clusters.hpp"
#include "tools/plan/job/model_catalog.hpp"
#include "tools/plan/step/group_time.hpp"

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

ComputeRates h100() { return {.gpu = &topology::find_training_gpu("H100 SXM", "--gpu")}; }

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

TEST(Step, WhatTheJobSaysGoesBeforeTheStack) {
  TrainingJob job = recipe();
  const double usual = seconds_of(job);
  job.tp_overlap = false;
  EXPECT_GT(seconds_of(job), usual);
  job.tp_overlap = true;
  EXPECT_EQ(seconds_of(job), usual);
  job.model = find_model("mixtral-8x7b").shape;
  job.ep = 8;
  job.stack = &find_stack("megatron-eager");
  const double exposed =
      term_of(step_time(job, cluster_of("hgx-h100", 1), h100()), StepPart::ep).exposed_seconds;
  job.ep_overlap = true;
  EXPECT_LT(term_of(step_time(job, cluster_of("hgx-h100", 1), h100()), StepPart::ep).exposed_seconds,
            exposed / 2);
}

// Of the scores every one is written and read.
TEST(Step, UnfusedAttentionTakesLongerThanFused) {
  TrainingJob job = recipe();
  const double fused =
      term_of(step_time(job, cluster_of("hgx-h100", 1), h100()), StepPart::attention).exposed_seconds;
  job.attention = AttentionKernel::unfused;
  EXPECT_GT(term_of(step_time(job, cluster_of("hgx-h100", 1), h100()), StepPart::attention).exposed_seconds,
            2 * fused);
}

// MegaScale, section 3.1: one norm and half of the tensor-parallel collectives; attention within a window.
TEST(Step, ParallelBlocksAndWindowsTakeLess) {
  const Step usual = step_time(recipe(), cluster_of("hgx-h100", 1), h100());
  TrainingJob job = recipe();
  job.model.parallel_block = true;
  const Step parallel = step_time(job, cluster_of("hgx-h100", 1), h100());
  EXPECT_DOUBLE_EQ(term_of(parallel, StepPart::tp).bytes, term_of(usual, StepPart::tp).bytes / 2);
  EXPECT_LT(term_of(parallel, StepPart::elementwise).exposed_seconds,
            term_of(usual, StepPart::elementwise).exposed_seconds);
  job = recipe();
  job.model.window = 2048;
  EXPECT_DOUBLE_EQ(attended_part(job.model, 8192), 0.25 * 1.75);
  const double windowed =
      term_of(step_time(job, cluster_of("hgx-h100", 1), h100()), StepPart::attention).exposed_seconds;
  EXPECT_LT(windowed, 0.5 * term_of(usual, StepPart::attention).exposed_seconds);
  job.model.window_layers = 40;
  EXPECT_DOUBLE_EQ(attended_part(job.model, 8192), (1 + 0.25 * 1.75) / 2);
  EXPECT_EQ(attended_part(job.model, 2048), 1);
}

// torchao's README, Llama 3 8B on eight H100: BF16 6,150 tokens/s, a scale for a tensor 7,689.5, a row 6,768.
TEST(Step, ScalesOfRowsTakeLongerThanOfTensors) {
  TrainingJob job = recipe();
  const double bf16 = seconds_of(job);
  job.precision = Precision::fp8;
  const double tensor = seconds_of(job);
  job.precision = Precision::fp8_rowwise;
  EXPECT_GT(seconds_of(job), 1.1 * tensor);
  EXPECT_LT(seconds_of(job), bf16);
}

TEST(Step, RecomputedModulesTakeLessThanAll) {
  TrainingJob job = recipe();
  const double none = seconds_of(job);
  job.recompute = Recompute::modules;
  EXPECT_GT(seconds_of(job), none);
  EXPECT_LT(seconds_of(job), 1.05 * none);
}

// Nodes with fewer NICs than GPUs: eight groups of a rank each share four of them.
TEST(Step, GroupsShareANicWhereThereAreFewerThanGpus) {
  TrainingJob job = recipe();
  job.tp = 8, job.cp = 1;
  GpuCluster four = cluster_of("hgx-h100", 1);
  const RankGroup eight = rank_group(four, job, GroupKind::data);
  four.nics = 4;
  EXPECT_DOUBLE_EQ(rank_group(four, job, GroupKind::data).cluster.nic_line_rate,
                   eight.cluster.nic_line_rate / 2);
}

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
  const RankGroup inside = rank_group(node, recipe(), GroupKind::context);
  EXPECT_FALSE(inside.crosses_nodes());
  EXPECT_EQ(inside.cluster.ranks(), 2);
  const RankGroup across = rank_group(node, recipe(), GroupKind::data);
  EXPECT_TRUE(across.crosses_nodes());
  EXPECT_EQ(across.cluster.ranks_per_node, 2);
  EXPECT_EQ(across.cluster.nodes, 32);
  EXPECT_EQ(across.cluster.nics, 2);  // the other six serve the groups beside it
  EXPECT_EQ(group_seconds(rank_group(node, recipe(), GroupKind::expert), OperationId::all_reduce, 1e9), 0);
  const RankGroup rack = rank_group(cluster_of("gb200-nvl72", 1), {.tp = 32}, GroupKind::tensor);
  EXPECT_FALSE(rack.crosses_nodes());
  EXPECT_EQ(rack.cluster.ranks(), 32);
}

GpuCluster h100_below(const char* fabric) {
  GpuCluster machine = cluster_of("hgx-h100", 1);
  machine.fabric = parse_fabric(fabric, "--fabric");
  return machine;
}

// 32 nodes of a stage below a leaf: the data-parallel ring stays there, and all 32 send to the next stage,
// which is below another one, over half as many uplinks.
TEST(RankGroup, GetsWhatTheLeafSwitchesLeave) {
  const GpuCluster machine = h100_below("rail-optimized,leaf=32,oversubscription=2");
  const GpuCluster free = cluster_of("hgx-h100", 1);
  EXPECT_EQ(rank_group(machine, recipe(), GroupKind::data).fabric_share, 1);
  const RankGroup stages = rank_group(machine, recipe(), GroupKind::stages);
  EXPECT_EQ(stages.fabric_share, 0.5);
  EXPECT_EQ(stages.cluster.nic_line_rate, free.nic_line_rate / 2);
  EXPECT_EQ(crossed_links(stages), "1 NIC per GPU, 50 GB/s, 50 % of it through the fabric");
  EXPECT_GT(group_seconds(stages, OperationId::send_recv, 1e8),
            1.2 * group_seconds(rank_group(free, recipe(), GroupKind::stages), OperationId::send_recv, 1e8));
  // A tenth of the uplinks: the ring of 16 nodes below each leaf leaves it once, all of it.
  EXPECT_EQ(
      rank_group(h100_below("fat-tree,leaf=16,oversubscription=32"), recipe(), GroupKind::data).fabric_share,
      0.5);
  // By chance (128 − 32) / 127 of all hops leave.
  EXPECT_NEAR(rank_group(h100_below("rail-optimized,leaf=32,oversubscription=2,placement=random"), recipe(),
                         GroupKind::data)
                  .fabric_share,
              0.5 * 127 / 96, 1e-12);
}

TEST(Step, LessBehindTheLeavesIsNeverFaster) {
  for (const char* placement : {"ordered", "random"}) {
    double last = 0;
    for (const int oversubscription : {1, 2, 4, 8, 64}) {
      const std::string fabric =
          "rail-optimized,leaf=8,oversubscription=" + std::to_string(oversubscription) +
          ",placement=" + placement;
      const double seconds = seconds_of(recipe(), h100_below(fabric.c_str()));
      EXPECT_GE(seconds, last) << fabric;
      last = seconds;
    }
    EXPECT_GT(last, 1.02 * seconds_of(recipe())) << placement;
  }
  EXPECT_EQ(seconds_of(recipe(), h100_below("rail-optimized,leaf=8")), seconds_of(recipe()));
}

// With pipelines inside and data parallelism outside it is the ring of gradients that leaves the leaves.
TEST(Step, TheOrderOfRanksDecidesWhatLeavesALeaf) {
  const GpuCluster machine = h100_below("rail-optimized,leaf=4,oversubscription=16");
  TrainingJob inside = recipe();
  inside.order = parse_rank_order("tp-cp-ep-pp-dp", "--order");
  const Step usual = step_time(recipe(), machine, h100());
  const Step turned = step_time(inside, machine, h100());
  EXPECT_LT(term_of(turned, StepPart::pp).exposed_seconds, term_of(usual, StepPart::pp).exposed_seconds);
  EXPECT_GT(term_of(turned, StepPart::dp).exposed_seconds, term_of(usual, StepPart::dp).exposed_seconds);
}

// Qi et al. 2023, table 1: (p − 1)(F + B − W) in place of (p − 1)(F + B + W), where the stages are equal.
TEST(Step, WithoutBubblesStagesWaitForLess) {
  TrainingJob job = recipe();
  job.vpp = 1;
  const Step usual = step_time(job, cluster_of("hgx-h100", 1), h100());
  job.schedule = Schedule::zb_h1;
  const Step zero = step_time(job, cluster_of("hgx-h100", 1), h100());
  double waited = 0;
  double waited_usually = 0;
  for (std::size_t stage = 0; stage + 1 < zero.stages.size();
       ++stage) {  // the last one has the head, and most to do
    const StagePasses& each = zero.stages[stage];
    waited += each.forward + each.backward - 2 * each.weights;
    waited_usually += each.forward + each.backward;
  }
  EXPECT_NEAR(term_of(usual, StepPart::bubble).exposed_seconds, waited_usually, 1e-12);
  EXPECT_NEAR(term_of(zero, StepPart::bubble).exposed_seconds, waited, 1e-12);
  EXPECT_LT(waited, 0.6 * waited_usually);
  EXPECT_EQ(term_of(zero, StepPart::products).exposed_seconds,
            term_of(usual, StepPart::products).exposed_seconds);
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
  for (const topology::TrainingGpu& gpu : topology::training_gpus()) {
    EXPECT_LT(gpu.gemm_bf16, gpu.peak_bf16) << gpu.name;
    EXPECT_LT(gpu.attention_forward, gpu.peak_bf16) << gpu.name;
    if (gpu.peak_fp8 > 0) {
      EXPECT_LT(gpu.gemm_fp8, gpu.peak_fp8) << gpu.name;
    }
    EXPECT_FALSE(gpu.source.empty());
  }
}

TEST(TrainingGpu, GenerationIsTheCatalogs) {
  for (const topology::TrainingGpu& gpu : topology::training_gpus())
    EXPECT_EQ(gpu.generation, topology::find_gpu_model(gpu.name)->generation()) << gpu.name;
}

}  // namespace
}  // namespace collbench::analysis::step_test
