#include "tools/plan/step/layer_time.hpp"

#include <gtest/gtest.h>

#include "tests/analysis/models/nccl/clusters.hpp"
#include "tools/plan/job/model_catalog.hpp"
#include "tools/plan/step/group_time.hpp"
#include "tools/plan/step/step.hpp"

namespace collbench::analysis::launches_test {
namespace {

/// NVIDIA's recipe of Qwen3 30B on eight Blackwell GPUs (Megatron-Bridge 26.04.01), 16 experts on each.
TrainingJob recipe(const char* stack, int micro_batch = 1) {
  return {.model = find_model("qwen3-30b-a3b").shape,
          .sequence = 4096,
          .global_batch = 512,
          .micro_batch = micro_batch,
          .ep = 8,
          .dp = 8,
          .precision = Precision::fp8,
          .stack = &find_stack(stack)};
}

Step step_of(const TrainingJob& job, const char* machine = "hgx-b200") {
  const ComputeRates rates{.gpu = &topology::find_training_gpu("B200", "--gpu")};
  return step_time(job, cluster_of(machine, 1), rates);
}

StepTerm term_of(const Step& step, StepPart part) {
  for (const StepTerm& term : step.terms) {
    if (term.part == part) return term;
  }
  return {};
}

TEST(Launches, AreThoseOfACountByHand) {
  // 16 experts of six products, each with four quantizations.
  EXPECT_DOUBLE_EQ(launches_of_expert_layer(recipe("megatron")), 16 * 6 * 5);
  // Besides, three times: router 31, dispatch 20, attention 12, and two products' quantizations.
  EXPECT_DOUBLE_EQ(launches_of_expert_layer(recipe("megatron-eager")), 16 * 6 * 5 + 3 * (31 + 20 + 12 + 8));
  EXPECT_DOUBLE_EQ(launches_of_expert_layer(recipe("megatron-2026")), 0);
  TrainingJob bf16 = recipe("megatron");
  bf16.precision = Precision::bf16;
  EXPECT_DOUBLE_EQ(launches_of_expert_layer(bf16), 16 * 6);
  bf16.recompute = Recompute::full;
  EXPECT_DOUBLE_EQ(launches_of_expert_layer(bf16), 16 * 6 * 4.0 / 3);
}

// torchtitan's product of all experts is one kernel, XLA's is in a program.
TEST(Launches, AStackWithoutAProductPerExpertHasNone) {
  EXPECT_DOUBLE_EQ(launches_of_expert_layer(recipe("compiled")), 6 * 5 + 3 * (31 + 20 + 12 + 8));
  EXPECT_DOUBLE_EQ(launches_of_expert_layer(recipe("fsdp")), launches_of_expert_layer(recipe("compiled")));
  EXPECT_DOUBLE_EQ(launches_of_expert_layer(recipe("maxtext")), 0);
}

TEST(Launches, BoundASmallMicroBatchAndNotALargeOne) {
  const Step small = step_of(recipe("megatron-eager"));
  EXPECT_GT(term_of(small, StepPart::launches).exposed_seconds, small.seconds() / 2);
  const Step large = step_of(recipe("megatron-eager", 8));
  EXPECT_LT(term_of(large, StepPart::launches).exposed_seconds, large.seconds() / 5);
}

TEST(Launches, ADenseModelHasNone) {
  TrainingJob dense = recipe("megatron-eager");
  dense.model = find_model("llama-3.1-8b").shape;
  dense.ep = 1;
  EXPECT_EQ(term_of(step_of(dense), StepPart::launches).exposed_seconds, 0);
}

TEST(Launches, NewerSoftwareIsNeverSlower) {
  for (const int micro_batch : {1, 2, 4, 8}) {
    const double eager = step_of(recipe("megatron-eager", micro_batch)).seconds();
    const double graphs = step_of(recipe("megatron", micro_batch)).seconds();
    const double whole = step_of(recipe("megatron-2026", micro_batch)).seconds();
    EXPECT_GE(eager, graphs) << micro_batch;
    EXPECT_GE(graphs, whole) << micro_batch;
  }
}

// Of a graph of the whole step AllToAll is under another micro-batch's products.
TEST(Launches, AWholeGraphHidesAllToAll) {
  const StepTerm shown = term_of(step_of(recipe("megatron")), StepPart::ep);
  const StepTerm hidden = term_of(step_of(recipe("megatron-2026")), StepPart::ep);
  EXPECT_EQ(shown.hidden_seconds, 0);
  EXPECT_LT(hidden.exposed_seconds, shown.exposed_seconds / 2);
  EXPECT_DOUBLE_EQ(hidden.bytes, shown.bytes);
}

// Where a rank has one micro-batch, there is no other to hide under; of two, half is hidden.
TEST(Launches, AWholeGraphHidesNothingUnderAMicroBatchThatIsNotThere) {
  TrainingJob one = recipe("megatron-2026");
  one.global_batch = 8;
  const StepTerm shown = term_of(step_of(one), StepPart::ep);
  EXPECT_EQ(shown.hidden_seconds, 0);
  EXPECT_GT(shown.exposed_seconds, 0);
  one.global_batch = 16;
  EXPECT_NEAR(term_of(step_of(one), StepPart::ep).hidden_seconds, shown.exposed_seconds, 1e-12);
}

// Each of 128 experts on one rank gets a sixteenth of its tokens: adding a gradient takes longer than its
// product.
TEST(ExpertLayer, GradientsOfManyExpertsAreAddedForFewTokens) {
  const ComputeRates rates{.gpu = &topology::find_training_gpu("B200", "--gpu")};
  TrainingJob job = recipe("megatron-eager");
  job.ep = 1;
  EXPECT_GT(layer_time(job, rates, true).weights.elementwise, 0);
  job.micro_batch = 8;
  EXPECT_EQ(layer_time(job, rates, true).weights.elementwise, 0);
}

// A record of AllToAll has measured seconds, whatever the dispatch.
TEST(ExpertCalls, MeasuredSecondsStayAsTheyAre) {
  TrainingJob job = recipe("megatron");
  job.ep = job.dp = 32;
  const ComputeRates rates{.gpu = &topology::find_training_gpu("B200", "--gpu")};
  const MeasuredCollectives as_modeled{
      .record = "r", .across_nodes = true, .ratios = {{OperationId::all_to_all, {{1e3, 1}, {1e9, 1}}}}};
  const GpuCluster node = cluster_of("hgx-b200", 1);
  const double measured = term_of(step_time(job, node, rates, {}, &as_modeled), StepPart::ep).exposed_seconds;
  const double assumed = term_of(step_time(job, node, rates), StepPart::ep).exposed_seconds;
  EXPECT_NEAR(measured, 0.76 * assumed, 1e-9);
}

// Eight experts are on 4 (1 − (3/4)^8) = 3.6 of four nodes, in the mean.
TEST(ExpertCalls, ATokenCrossesToEachNodeOnce) {
  TrainingJob job = recipe("megatron");
  job.ep = job.dp = 32;
  TrainingJob copies = job;
  copies.stack = &find_stack("megatron-eager");
  const StepTerm once = term_of(step_of(job), StepPart::ep);
  const StepTerm each = term_of(step_of(copies), StepPart::ep);
  const double share = once.bytes / each.bytes;
  // At 0.76 of the rate of NCCL's AllToAll, which its latency makes a little slower for fewer bytes.
  EXPECT_NEAR(once.exposed_seconds / each.exposed_seconds, share / 0.76, 0.1 * share);
  EXPECT_NEAR(share, 4 * (1 - 0.75 * 0.75 * 0.75 * 0.75 * 0.75 * 0.75 * 0.75 * 0.75) / 8, 1e-9);
  // Of four groups on four nodes, two.
  job.model.experts.groups = 4;
  job.model.experts.top_groups = 2;
  const double each_bytes = term_of(step_of(copies), StepPart::ep).bytes;
  EXPECT_NEAR(term_of(step_of(job), StepPart::ep).bytes / each_bytes, 2.0 / 8, 1e-9);
  // Each of two groups spreads over two nodes.
  job.model.experts.groups = 2;
  job.model.experts.top_groups = 1;
  EXPECT_NEAR(term_of(step_of(job), StepPart::ep).bytes / each_bytes, 2.0 / 8, 1e-9);
  // Within one NVLink domain all copies are sent.
  job.model.experts.groups = 0;
  EXPECT_DOUBLE_EQ(term_of(step_of(job, "gb200-nvl72"), StepPart::ep).bytes,
                   term_of(step_of(copies, "gb200-nvl72"), StepPart::ep).bytes);
}

}  // namespace
}  // namespace collbench::analysis::launches_test
