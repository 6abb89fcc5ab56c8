#include <gtest/gtest.h>

#include "tools/lab01/report/lab01.hpp"
#include "tools/lab01/tests/report/runs.hpp"

namespace collbench::analysis::host_ceilings_test {
namespace {

TEST(Lab01Ceilings, HostMemoryIsWhatWasCalibrated) {
  auto run = lab01_host_run();
  run.calibration->points = {
      {CalibrationKind::forward_intra, 64, 1e-6, {}, {}},
      {CalibrationKind::forward_intra, 100'000, 10e-6, {}, {}},
      {CalibrationKind::forward_intra, 1'000'000, 200e-6, {}, {}},
      {CalibrationKind::reduce_local, 1'000'000, 200e-6, DataType::float32, Reduction::sum},
      {CalibrationKind::reduce_local, 2'000'000, 1, DataType::int8, Reduction::max},
      {CalibrationKind::copy, 1'000'000, 100e-6, {}, {}}};
  const Lab01Ceilings ceilings = lab01_ceilings(run, std::nullopt);
  ASSERT_EQ(ceilings.links.size(), 2U);
  ASSERT_EQ(ceilings.algorithms.size(), 1U);
  EXPECT_NEAR(ceilings.links[0].bytes_per_second, 10e9, 1);  // the fastest point
  EXPECT_NEAR(ceilings.links[1].bytes_per_second, 5e9, 1);   // the largest
  // By hand: f = 1; 1 / (1/5 + 0.5 × 0.2 + 0.1) = 2.5 GB/s.
  EXPECT_NEAR(*ceilings.algorithms[0].line_rate, 5e9, 1);
  EXPECT_NEAR(*ceilings.algorithms[0].reachable, 2.5e9, 1);
}

}  // namespace
}  // namespace collbench::analysis::host_ceilings_test
