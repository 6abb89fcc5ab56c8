#include "tools/lab01/report/lab01.hpp"

#include <gtest/gtest.h>

#include "tools/lab01/tests/report/runs.hpp"

namespace collbench::analysis::ceilings_test {
namespace {

TEST(Lab01Ceilings, TwoNodesOfHgxH100) {
  const Lab01Ceilings ceilings = lab01_ceilings(lab01_gpu_run(), lab01_machine());
  ASSERT_EQ(ceilings.links.size(), 5U);
  EXPECT_EQ(ceilings.links[0].arithmetic, "18 links × 25 GB/s");
  EXPECT_DOUBLE_EQ(ceilings.links[0].bytes_per_second, 450e9);
  EXPECT_EQ(ceilings.links[1].arithmetic, "18 links × 20.6 GB/s");
  EXPECT_DOUBLE_EQ(ceilings.links[1].bytes_per_second, 370.8e9);
  EXPECT_DOUBLE_EQ(ceilings.links[2].bytes_per_second, 363.6e9);
  EXPECT_EQ(ceilings.links[3].arithmetic, "8 × 400 Gb/s ÷ 8");
  EXPECT_DOUBLE_EQ(ceilings.links[3].bytes_per_second, 400e9);
  EXPECT_DOUBLE_EQ(ceilings.links[4].bytes_per_second, 380e9);
  ASSERT_EQ(ceilings.algorithms.size(), 3U);
  // By hand: min(450, 400); min(1.875 × 400, 1.875 × 450 / 2); min(1.875 × 400, 1.875 × 450 × 8/9).
  EXPECT_DOUBLE_EQ(*ceilings.find("ring")->line_rate, 400e9);
  EXPECT_DOUBLE_EQ(*ceilings.find("tree")->line_rate, 421.875e9);
  EXPECT_DOUBLE_EQ(*ceilings.find("nvls_tree")->line_rate, 750e9);
  // The same with NCCL's 370.8 in place of 450.
  EXPECT_DOUBLE_EQ(*ceilings.find("ring")->by_nccl, 370.8e9);
  EXPECT_DOUBLE_EQ(*ceilings.find("tree")->by_nccl, 347.625e9);
  EXPECT_DOUBLE_EQ(*ceilings.find("nvls_tree")->by_nccl, 618e9);
}

// A healthy node of eight H100 reaches 480 GB/s: above ring and tree, and not above theory.
TEST(Lab01Ceilings, NvlsIsAmongThem) {
  const Lab01Ceilings ceilings = lab01_ceilings(lab01_gpu_run(), lab01_machine("hgx-h100", 1));
  EXPECT_DOUBLE_EQ(*ceilings.find("nvls")->line_rate, 700e9);  // 1.75 × 450 × 8/9
  EXPECT_EQ(lab01_ceilings(lab01_gpu_run(), lab01_machine("dgx-a100", 1)).find("nvls"), nullptr);
}

// On every reference machine: no expectation is above the line rate of its algorithm.
TEST(Lab01Ceilings, NothingIsExpectedAboveLineRate) {
  for (const topology::ReferenceMachine& reference : topology::reference_machines()) {
    for (const int nodes : {1, 2, 3, 20}) {
      if (nodes > 1 && reference.nic_transport.empty()) continue;
      for (const int ranks : {0, 1, 2, 4}) {
        if (nodes == 1 && ranks == 1) continue;
        const Lab01Machine machine = lab01_machine(reference.name, nodes, ranks);
        const Lab01Ceilings ceilings = lab01_ceilings(lab01_gpu_run(), machine);
        SCOPED_TRACE(std::string(reference.name) + " " + std::to_string(nodes) + " × " +
                     std::to_string(ranks));
        ASSERT_GE(ceilings.algorithms.size(), 2U);
        for (const AlgorithmCeiling& each : ceilings.algorithms) {
          ASSERT_TRUE(each.line_rate && each.reachable) << each.name;
          EXPECT_LE(*each.reachable, *each.line_rate * (1 + 1e-12)) << each.name;
          EXPECT_LE(*each.by_nccl, *each.line_rate * (1 + 1e-12)) << each.name;
        }
      }
    }
  }
}

// One GPU of a node reaches the network through its own PCIe link, and one NIC of a container is all there
// is.
TEST(Lab01Ceilings, OneGpuOfANodeHasItsOwnWayToTheNics) {
  Lab01Machine machine = lab01_machine("dgx-a100", 2, 1);
  EXPECT_NEAR(*lab01_ceilings(lab01_gpu_run(), machine).find("ring")->line_rate, 31.5e9, 0.1e9);  // Gen4 x16
  machine.cluster.nics = 1;
  EXPECT_DOUBLE_EQ(*lab01_ceilings(lab01_gpu_run(), machine).find("ring")->line_rate, 25e9);
}

TEST(Lab01Ceilings, NcclsFigureForAWayThroughTheHostBoundsNothing) {
  EXPECT_FALSE(lab01_ceilings(lab01_gpu_run(), lab01_machine("a100-pcie", 1)).are_bounds);
  EXPECT_TRUE(lab01_ceilings(lab01_gpu_run(), lab01_machine("dgx-a100", 1)).are_bounds);
}

TEST(Lab01Ceilings, TheLogNamesTheGpuWhereTheTopologyDoesNot) {
  auto run = lab01_gpu_run();
  Lab01Machine machine = lab01_machine("hgx-h100", 1);
  machine.host.gpus[0].model.value.reset();
  EXPECT_FALSE(lab01_ceilings(run, machine).find("ring")->line_rate);
  run.log->gpu = {"NVIDIA H100 80GB HBM3", 5};
  EXPECT_DOUBLE_EQ(*lab01_ceilings(run, machine).find("ring")->line_rate, 450e9);
}

TEST(Lab01Ceilings, TheLogsOwnLinesServeWithoutATopology) {
  auto run = lab01_gpu_run();
  EXPECT_TRUE(lab01_ceilings(run, std::nullopt).links.empty());
  run.log->nics = {{"mlx5_0", "mlx5_1"}, 9};
  run.log->nic_bytes_per_second = {12.5e9, 8};
  run.log->nvlink_least_bytes_per_second = {240e9, 7};
  const Lab01Ceilings ceilings = lab01_ceilings(run, std::nullopt);
  ASSERT_EQ(ceilings.links.size(), 2U);
  ASSERT_EQ(ceilings.algorithms.size(), 2U);
  EXPECT_FALSE(ceilings.algorithms[0].line_rate);                   // NCCL's count is no line rate
  EXPECT_DOUBLE_EQ(*ceilings.algorithms[0].by_nccl, 25e9);          // the NICs bound the ring
  EXPECT_DOUBLE_EQ(*ceilings.algorithms[1].by_nccl, 1.875 * 25e9);  // S leaves a node once in the tree
}

TEST(Lab01Ceilings, WhereTheNodesAreUnknownNoAlgorithmIsBounded) {
  auto run = lab01_gpu_run();
  run.log->nodes.reset();
  run.log->nics = {{"mlx5_0"}, 9};
  run.log->nic_bytes_per_second = {12.5e9, 8};
  run.log->nvlink_least_bytes_per_second = {240e9, 7};
  const Lab01Ceilings ceilings = lab01_ceilings(run, std::nullopt);
  EXPECT_EQ(ceilings.links.size(), 2U);
  EXPECT_TRUE(ceilings.algorithms.empty());
}

}  // namespace
}  // namespace collbench::analysis::ceilings_test
