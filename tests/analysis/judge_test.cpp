#include "analysis/judge.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/analysis/gpu/clusters.hpp"
#include "tests/analysis/judged_rows.hpp"

namespace collbench {
namespace {

VerdictWord word_of(const Run& run) { return run.rows.back().verdict.word; }

TEST(Judge, WhatTheModelSaysIsAsExpectedOnEveryReferenceMachine) {
  for (const ReferenceMachine& machine : reference_machines()) {
    for (const int nodes : {1, 2, 8}) {
      if (nodes > 1 && machine.nic_transport.empty()) continue;
      const GpuCluster cluster = gpu_cluster(machine, nodes, 0);
      const collbench::Run run = judged_on_gpus(run_from_expectation(cluster, 1.01), cluster);
      EXPECT_EQ(word_of(run), VerdictWord::as_expected) << machine.name << " × " << nodes;
      for (const Row& row : run.rows) EXPECT_FALSE(row.verdict.explanation.empty());
    }
  }
}

bool below_the_band(const collbench::Run& run) {
  return word_of(run) == VerdictWord::low || word_of(run) == VerdictWord::fault;
}

/// NCCL gives every channel the same bytes: the slowest link of a kind holds back all of them. The noise is
/// the median difference of out of place and in place in published logs, 0.2 %.
TEST(Judge, ALinkAtHalfItsRateIsSeenWithinANode) {
  for (const ReferenceMachine& machine : reference_machines()) {
    const GpuCluster healthy = gpu_cluster(machine, 1, 0);
    GpuCluster sick = healthy;
    (sick.nvlinks > 0 ? sick.nvlinks = sick.nvlinks / 2 : sick.host_path /= 2);
    const collbench::Run run =
        judged_on_gpus(run_from_expectation(sick, 1.002, OperationId::all_gather), healthy);
    EXPECT_TRUE(below_the_band(run)) << machine.name;
    EXPECT_THAT(run.rows.back().verdict.explanation, testing::HasSubstr("Cause: ")) << machine.name;
  }
}

TEST(Judge, ANicAtHalfItsRateIsSeenOrSaidNotToBe) {
  for (const ReferenceMachine& machine : reference_machines()) {
    if (machine.nic_transport.empty()) continue;
    for (const OperationId id : {OperationId::all_reduce, OperationId::all_gather, OperationId::send_recv}) {
      const int nodes = machine.nvlink_domain_gpus > 0 ? 36 : 2;
      const GpuCluster healthy = gpu_cluster(machine, nodes, 0);
      GpuCluster sick = healthy;
      sick.nic_line_rate /= 2;
      const collbench::Run run = judged_on_gpus(run_from_expectation(sick, 1.002, id), healthy);
      EXPECT_TRUE(below_the_band(run) ||
                  run.rows.back().verdict.explanation.find("would not show") != std::string::npos ||
                  run_from_expectation(sick, 1, id).rows.back().measurement.seconds <
                      1.15 * run_from_expectation(healthy, 1, id).rows.back().measurement.seconds)
          << machine.name << " " << operation(id).name << ": " << run.rows.back().verdict.explanation;
    }
  }
}

TEST(Judge, OneNicOfEightIsWithinTheBandAndItSaysSo) {
  const GpuCluster healthy = cluster_of("ndv4", 2);
  GpuCluster sick = healthy;
  sick.nics = 7;
  const collbench::Run run = judged_on_gpus(run_from_expectation(sick, 1), healthy);
  EXPECT_EQ(word_of(run), VerdictWord::as_expected);
  EXPECT_THAT(run.rows.back().verdict.explanation, testing::HasSubstr("One NIC of 8 (12 %) would not show"));
}

TEST(Judge, RowsKeepWhatWasMeasured) {
  const GpuCluster cluster = cluster_of("hgx-h100", 2);
  const collbench::Run before = run_from_expectation(cluster, 1);
  const collbench::Run after = judged_on_gpus(before, cluster);
  ASSERT_EQ(after.rows.size(), before.rows.size());
  for (std::size_t i = 0; i < before.rows.size(); ++i) {
    EXPECT_EQ(after.rows[i].measurement, before.rows[i].measurement);
  }
}

}  // namespace
}  // namespace collbench
