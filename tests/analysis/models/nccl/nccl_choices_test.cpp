#include "analysis/models/nccl/nccl_choices.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/models/nccl/gpu_expectation.hpp"
#include "base/units.hpp"
#include "tests/analysis/models/nccl/clusters.hpp"

namespace collbench::analysis::nccl_choices_test {
namespace {

GpuCluster with_version(GpuCluster cluster, int version) {
  cluster.run.nccl_version = version;
  return cluster;
}

std::string chosen(std::uint64_t bytes, const GpuCluster& cluster) {
  const auto choice = nccl_table_choice(OperationId::all_reduce, bytes, cluster);
  return choice ? choice->algorithm + "/" + choice->protocol : "";
}

// As `collbench nccl-plan --topology hgx-h100 --nodes 2` printed it with NCCL 2.28.9 (docs/gpu.md).
TEST(NcclChoices, AreThoseThatNcclGaveItself) {
  const GpuCluster cluster = with_version(cluster_of("hgx-h100", 2), 22809);
  EXPECT_EQ(chosen(kKiB, cluster), "tree/ll");
  EXPECT_EQ(chosen(64 * kKiB, cluster), "tree/ll");
  EXPECT_EQ(chosen(kMiB, cluster), "tree/ll128");
  EXPECT_EQ(chosen(64 * kMiB, cluster), "nvls_tree/simple");
  EXPECT_EQ(chosen(64 * kGiB, cluster), "nvls_tree/simple");
  const auto gather = nccl_table_choice(OperationId::all_gather, kMiB, cluster);
  ASSERT_TRUE(gather);
  EXPECT_EQ(gather->algorithm + "/" + gather->protocol, "ring/ll128");
  EXPECT_EQ(gather->max_channels, 16);
  EXPECT_EQ(words(*gather), "NCCL 2.28.9 chooses ring/ll128 here (table: as on hgx-h100 × 2)");
}

TEST(NcclChoices, TheVersionNextBelowSpeaks) {
  const GpuCluster cluster = cluster_of("hgx-h100", 2);
  const auto choice = nccl_table_choice(OperationId::all_reduce, kMiB, with_version(cluster, 22902));
  ASSERT_TRUE(choice);
  EXPECT_EQ(choice->newest_version, 22809);
  EXPECT_FALSE(nccl_table_choice(OperationId::all_reduce, kMiB, with_version(cluster, 21903)));
}

TEST(NcclChoices, WithoutAVersionAllMustAgree) {
  const GpuCluster cluster = cluster_of("hgx-h100", 2);
  const auto choice = nccl_table_choice(OperationId::all_reduce, kGiB, cluster);
  ASSERT_TRUE(choice);
  EXPECT_EQ(choice->algorithm, "nvls_tree");
  EXPECT_LT(choice->oldest_version, choice->newest_version);
  // 2.23.4 has changed to NVLS trees here, 2.28.9 has not.
  EXPECT_EQ(chosen(kMiB, with_version(cluster, 22304)), "nvls_tree/simple");
  EXPECT_EQ(chosen(kMiB, cluster), "");
}

TEST(NcclChoices, AnotherMachineIsNotNear) {
  GpuCluster near = cluster_of("hgx-h100", 2);
  near.nic_line_rate *= 0.95;
  EXPECT_NE(chosen(kGiB, near), "");
  for (const auto change :
       {+[](GpuCluster& each) { each.nic_line_rate *= 0.5; }, +[](GpuCluster& each) { --each.nics; },
        +[](GpuCluster& each) { --each.nvlinks; }, +[](GpuCluster& each) { each.nodes = 3; },
        +[](GpuCluster& each) { each.ranks_per_node = 4; },
        +[](GpuCluster& each) { each.transport = Transport::efa_rdma; },
        +[](GpuCluster& each) { each.slower_nics.emplace_back(); },
        +[](GpuCluster& each) { each.run.settings_choose = true; }}) {
    GpuCluster other = cluster_of("hgx-h100", 2);
    change(other);
    EXPECT_EQ(chosen(kGiB, other), "");
  }
  EXPECT_EQ(chosen(kGiB, cluster_of("p5", 2)), "");  // EFA's plugin chooses by itself
  EXPECT_EQ(chosen(kGiB, cluster_of("gb200-nvl72", 2)), "");
  EXPECT_NE(chosen(kGiB, cluster_of("p5", 1)), "");  // no network
}

TEST(NcclChoices, AnswersForEveryMachineSizeAndOperationOfTheTable) {
  for (const char* machine : {"dgx-1v", "hgx-a100", "hgx-h100", "hgx-h800", "hgx-b200"}) {
    for (const int nodes : {1, 2, 4}) {
      for (const OperationId id :
           {OperationId::all_reduce, OperationId::all_gather, OperationId::reduce_scatter,
            OperationId::broadcast, OperationId::reduce}) {
        for (std::uint64_t bytes = 8; bytes <= 16 * kGiB; bytes *= 2) {
          const auto choice = nccl_table_choice(id, bytes, with_version(cluster_of(machine, nodes), 22809));
          ASSERT_TRUE(choice) << machine << " " << nodes << " " << operation(id).name << " " << bytes;
          EXPECT_THAT(choice->algorithm, testing::AnyOf("ring", "tree", "nvls", "nvls_tree"));
          EXPECT_THAT(choice->protocol, testing::AnyOf("ll", "ll128", "simple"));
          EXPECT_GE(choice->min_channels, 1);
          EXPECT_LE(choice->max_channels, 64);
        }
      }
    }
  }
}

TEST(NcclChoices, AProtocolTakesItsPartOfTheRate) {
  const GpuCluster plain = with_version(cluster_of("hgx-a100", 2), 22809);
  const GpuCluster chosen_here = with_table_choice(plain, OperationId::all_gather, 32 * kMiB);
  ASSERT_EQ(chosen_here.run.protocol, "ll128");
  const double simple = *expect_on_gpus(OperationId::all_gather, 32 * kMiB, plain).expected_seconds;
  const double ll128 = *expect_on_gpus(OperationId::all_gather, 32 * kMiB, chosen_here).expected_seconds;
  // 32 MiB over 8 × 25 GB/s × 0.95 × 16/15.
  EXPECT_NEAR(ll128 - simple, 32.0 * kMiB / (190e9 * 16 / 15) * (1 / 0.92 - 1), 1e-9);
  EXPECT_EQ(protocol_efficiency("ll"), 0.5);
  EXPECT_EQ(protocol_efficiency("simple"), 1);
}

TEST(NcclChoices, TheAlgorithmThatIsChosenIsExpectedAndTheBandHoldsTheOthers) {
  const GpuCluster plain = with_version(cluster_of("hgx-h100", 4), 22809);
  const GpuCluster chosen_here = with_table_choice(plain, OperationId::all_reduce, 4 * kMiB);
  ASSERT_EQ(chosen_here.run.table_choice, "tree");
  const Expectation open = expect_on_gpus(OperationId::all_reduce, 4 * kMiB, plain);
  const Expectation expected = expect_on_gpus(OperationId::all_reduce, 4 * kMiB, chosen_here);
  EXPECT_EQ(expected.expected_by, "tree");
  EXPECT_GT(*expected.expected_seconds, *open.expected_seconds);
  EXPECT_EQ(expected.fastest_seconds, open.fastest_seconds);
  EXPECT_GE(*expected.slowest_seconds, *open.slowest_seconds);
}

TEST(NcclChoices, WhatTheRunSaysWins) {
  GpuCluster cluster = with_version(cluster_of("hgx-h100", 2), 22809);
  cluster.run.algorithm = "ring";
  const GpuCluster same = with_table_choice(cluster, OperationId::all_reduce, kGiB);
  EXPECT_EQ(same, cluster);
  EXPECT_EQ(expect_on_gpus(OperationId::all_reduce, kGiB, same).expected_by, "ring");
}

TEST(NcclChoices, VersionsAreReadAsNcclWritesThem) {
  EXPECT_EQ(nccl_version_code("2.28.9+cuda12.9"), 22809);
  EXPECT_EQ(nccl_version_code("2.30.7"), 23007);
  EXPECT_EQ(nccl_version_code("2.21"), 22100);
  for (const char* none : {"", "2", "2.x.1", "2.8.4", "1.2.3.4"})
    EXPECT_EQ(nccl_version_code(none), 0) << none;
}

}  // namespace
}  // namespace collbench::analysis::nccl_choices_test
