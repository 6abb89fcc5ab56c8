#include "analysis/report/lab01/lab01.hpp"

#include <gtest/gtest.h>

#include "tests/analysis/report/lab01/runs.hpp"

namespace collbench::analysis::ceilings_test {
namespace {

TEST(Lab01Ceilings, TwoNodesOfHgxH100) {
  const auto ceilings = lab01_ceilings(lab01_gpu_run(), hgx_h100());
  ASSERT_EQ(ceilings.size(), 4U);
  EXPECT_EQ(ceilings[0].arithmetic, "18 links × 20.6 GB/s");
  EXPECT_DOUBLE_EQ(ceilings[0].bytes_per_second, 370.8e9);
  EXPECT_EQ(ceilings[1].arithmetic, "8 × 400 Gb/s ÷ 8");
  EXPECT_DOUBLE_EQ(ceilings[1].bytes_per_second, 400e9);
  EXPECT_EQ(ceilings[2].what, kRingCeiling);
  EXPECT_DOUBLE_EQ(ceilings[2].bytes_per_second, 370.8e9);
  // By hand: min(1.875 × 400, 1.875 × 370.8 / 2).
  EXPECT_DOUBLE_EQ(ceilings[3].bytes_per_second, 347.625e9);
}

TEST(Lab01Ceilings, TheLogsOwnLinesServeWithoutATopology) {
  auto run = lab01_gpu_run();
  EXPECT_TRUE(lab01_ceilings(run, std::nullopt).empty());
  run.log->nics = {{"mlx5_0", "mlx5_1"}, 9};
  run.log->nic_bytes_per_second = {12.5e9, 8};
  run.log->nvlink_least_bytes_per_second = {240e9, 7};
  const auto ceilings = lab01_ceilings(run, std::nullopt);
  ASSERT_EQ(ceilings.size(), 4U);
  EXPECT_DOUBLE_EQ(ceilings[2].bytes_per_second, 25e9);          // the NICs bound the ring
  EXPECT_DOUBLE_EQ(ceilings[3].bytes_per_second, 1.875 * 25e9);  // S leaves a node once in the tree
}

TEST(Lab01Ceilings, WhereTheNodesAreUnknownNoAlgorithmIsBounded) {
  auto run = lab01_gpu_run();
  run.log->nodes.reset();
  EXPECT_EQ(lab01_ceilings(run, hgx_h100()).size(), 2U);
}

TEST(Lab01Ceilings, HostMemoryIsWhatWasCalibrated) {
  auto run = lab01_gpu_run();
  run.backend = BackendId::mpi;
  run.log.reset();
  run.ranks = {{0, "n1", 0, 0}, {1, "n1", 0, 1}};
  run.calibration = Calibration{};
  run.calibration->points = {
      {CalibrationKind::forward_intra, 64, 1e-6, {}, {}},
      {CalibrationKind::forward_intra, 1'000'000, 200e-6, {}, {}},
      {CalibrationKind::reduce_local, 1'000'000, 200e-6, DataType::float32, Reduction::sum},
      {CalibrationKind::reduce_local, 2'000'000, 1, DataType::int8, Reduction::max},
      {CalibrationKind::copy, 1'000'000, 100e-6, {}, {}}};
  const auto ceilings = lab01_ceilings(run, std::nullopt);
  ASSERT_EQ(ceilings.size(), 2U);
  // By hand: f = 1; 1 / (1/5 + 0.5 × 0.2 + 0.1) = 2.5 GB/s.
  EXPECT_NEAR(ceilings[0].bytes_per_second, 5e9, 1);
  EXPECT_NEAR(ceilings[1].bytes_per_second, 2.5e9, 1);
}

}  // namespace
}  // namespace collbench::analysis::ceilings_test
