#include "tools/plan/step/measured_collectives.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <memory>

#include "base/error.hpp"
#include "tests/analysis/models/nccl/clusters.hpp"
#include "tools/plan/job/model_catalog.hpp"
#include "tools/plan/step/plan.hpp"

namespace collbench::analysis::measured_collectives_test {
namespace {

/// A run in which each operation took `ratio` of the expected second at 1 MB, and three times that at 100 MB
/// and 1 GB.
Run run_of(std::initializer_list<OperationId> operations, double ratio) {
  Run run;
  for (const OperationId operation : operations) {
    for (const auto& [bytes, factor] :
         {std::pair(1'000'000, 1.0), std::pair(100'000'000, 3.0), std::pair(1'000'000'000, 3.0)}) {
      Row row;
      row.measurement.key.operation = operation;
      row.measurement.key.size_bytes = static_cast<std::uint64_t>(bytes);
      row.measurement.seconds = factor * ratio;
      row.expectation.expected_seconds = 1;
      run.rows.push_back(row);
    }
  }
  return run;
}

PlanRequest request() {
  PlanRequest request;
  request.model = find_model("llama-3.1-70b").shape;
  request.n_gpus = 64;
  request.tp = 8, request.pp = 2;
  request.global_batch = 64;
  return request;
}

TEST(MeasuredCollectives, InterpolatesByTheLogarithmOfTheSize) {
  const MeasuredCollectives measured =
      measured_collectives(run_of({OperationId::all_reduce}, 2), cluster_of("hgx-h100", 2), "run.json");
  EXPECT_TRUE(measured.across_nodes);
  const auto at = [&](double bytes) { return measured.ratio(OperationId::all_reduce, bytes).value_or(0); };
  EXPECT_DOUBLE_EQ(at(1e6 / 16), 2) << "below the first size as there";
  EXPECT_DOUBLE_EQ(at(1e7), 4) << "half way between 2 and 6";
  EXPECT_DOUBLE_EQ(at(16e9), 6);
  EXPECT_FALSE(measured.ratio(OperationId::all_reduce, 1e6 / 17)) << "too far from what was measured";
  EXPECT_FALSE(measured.ratio(OperationId::all_reduce, 17e9));
  EXPECT_FALSE(measured.ratio(OperationId::all_gather, 1e6));
  EXPECT_THROW(
      static_cast<void>(measured_collectives(collbench::Run{}, cluster_of("hgx-h100", 2), "run.json")),
      Error);
}

TEST(MeasuredCollectives, ASlowFabricShowsInTheStepOfGroupsThatCrossIt) {
  PlanRequest slow = request();
  const GpuCluster node = cluster_of("hgx-h100", 1);
  const TrainingPlan before = training_plan(slow, node);
  const collbench::Run run =
      run_of({OperationId::all_gather, OperationId::reduce_scatter, OperationId::send_recv}, 2.0);
  slow.measured = std::make_shared<const MeasuredCollectives>(
      measured_collectives(run, cluster_of("hgx-h100", 2), "run.json"));
  const TrainingPlan after = training_plan(slow, node);
  ASSERT_EQ(before.step.terms.size(), after.step.terms.size());
  for (std::size_t i = 0; i < before.step.terms.size(); ++i) {
    const StepTerm& term = before.step.terms[i];
    const double seconds = term.exposed_seconds + term.hidden_seconds;
    const double now = after.step.terms[i].exposed_seconds + after.step.terms[i].hidden_seconds;
    if (term.part == StepPart::dp || term.part == StepPart::pp) {
      EXPECT_GT(now, 1.9 * seconds);
    } else if (term.part == StepPart::tp || term.part == StepPart::products) {
      EXPECT_DOUBLE_EQ(now, seconds) << "within a node";
    }
  }
}

// What is latency at 8 B says nothing of gigabytes of gradients.
TEST(MeasuredCollectives, ARatioOfFewBytesDoesNotSpeakForGigabytes) {
  collbench::Run run =
      run_of({OperationId::all_gather, OperationId::reduce_scatter, OperationId::send_recv}, 50);
  for (Row& row : run.rows) row.measurement.key.size_bytes = 8;
  PlanRequest slow = request();
  const GpuCluster node = cluster_of("hgx-h100", 1);
  const double alone = training_plan(slow, node).step_seconds;
  slow.measured = std::make_shared<const MeasuredCollectives>(
      measured_collectives(run, cluster_of("hgx-h100", 2), "run.json"));
  const TrainingPlan plan = training_plan(slow, node);
  EXPECT_DOUBLE_EQ(plan.step_seconds, alone);
  const std::vector<StepCollective> silent = out_of_reach(plan.step, *slow.measured);
  ASSERT_EQ(silent.size(), 3U) << "AllGather, ReduceScatter, SendRecv: a size each";
  EXPECT_EQ(silent[0].operation, OperationId::all_gather);
  EXPECT_TRUE(silent[0].across_nodes);
  EXPECT_GT(silent[0].bytes, 1e9);
}

TEST(MeasuredCollectives, ARecordWithWrongDataIsRefused) {
  collbench::Run run = run_of({OperationId::all_reduce}, 2);
  run.rows.front().measurement.wrong_elements = 0;
  EXPECT_NO_THROW(static_cast<void>(measured_collectives(run, cluster_of("hgx-h100", 2), "run.json")));
  run.rows.back().measurement.wrong_elements = 7;
  EXPECT_THROW(static_cast<void>(measured_collectives(run, cluster_of("hgx-h100", 2), "run.json")), Error);
}

TEST(MeasuredCollectives, ATimeThatNoCollectiveTakesIsRefusedWithItsRow) {
  for (const double ratio :
       {1e10, 1e-10, std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()}) {
    try {
      static_cast<void>(measured_collectives(run_of({OperationId::all_reduce}, ratio),
                                             cluster_of("hgx-h100", 2), "run.json"));
      FAIL() << ratio;
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find("AllReduce of 1000000 bytes took"), std::string::npos)
          << error.what();
    }
  }
}

TEST(MeasuredCollectives, WhatIsMissingIsNamed) {
  PlanRequest lacking = request();
  lacking.measured = std::make_shared<const MeasuredCollectives>(
      measured_collectives(run_of({OperationId::all_gather}, 1), cluster_of("hgx-h100", 2), "run.json"));
  try {
    static_cast<void>(training_plan(lacking, cluster_of("hgx-h100", 1)));
    FAIL() << "planned";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("ReduceScatter, SendRecv, which the step runs between nodes"),
              std::string::npos)
        << error.what();
    EXPECT_EQ(error.next_step(), "measure also --ops reduce_scatter,send_recv");
  }
}

}  // namespace
}  // namespace collbench::analysis::measured_collectives_test
