#include "analysis/report/lab01/lab01.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/analysis/report/lab01/runs.hpp"

namespace collbench::analysis::lab01_test {
namespace {

using testing::HasSubstr;

TEST(ReportLab01, TheThreeSizesByTheirNearestRows) {
  const std::string text = report_lab01(lab01_gpu_run(), {});
  EXPECT_THAT(text, HasSubstr("| 1 MB | 1 MiB | 100.00 | – | – | – | 19.66 | – |"));
  EXPECT_THAT(text, HasSubstr("| 100 MB | – | – | – | – | – | – | – |"));
  EXPECT_THAT(text, HasSubstr("| 1 GB | 1 GiB | 4500.00 | – | – | – | 447.39 | – |"));
  EXPECT_THAT(text, HasSubstr("100 MB: the run has no AllReduce within a factor of 1.5 of it"));
}

TEST(ReportLab01, CeilingsStandInForWhatIsNotExpected) {
  Lab01Options options;
  options.ceilings = {{std::string(kRingCeiling), "min(a, b)", 370e9, "s"},
                      {std::string(kTreeCeiling), "c", 347e9, "t"}};
  auto run = lab01_gpu_run();
  run.rows[0].expectation.ring_seconds = 50e-6;
  const std::string text = report_lab01(run, options);
  EXPECT_THAT(text, HasSubstr("| 1 MB | 1 MiB | 100.00 | 39.32 | ≤ 347.00 |"));
  EXPECT_THAT(text, HasSubstr("| 1 GB | 1 GiB | 4500.00 | ≤ 370.00 | ≤ 347.00 |"));
  EXPECT_THAT(text, HasSubstr("This is above what ring and tree can reach"));
}

TEST(ReportLab01, ThePriceOfAnHour) {
  Lab01Options options;
  options.price_per_gpu_hour = 2.5;
  EXPECT_THAT(report_lab01(lab01_gpu_run(), options),
              HasSubstr("16 GPUs × 2.50 = 40.00 per hour; the log does not"));
  auto run = lab01_gpu_run();
  run.wall_seconds = 90;
  EXPECT_THAT(report_lab01(run, options), HasSubstr("this run took 1 min 30 s: 1.00."));
}

TEST(ReportLab01, HostMemorySaysSo) {
  auto run = lab01_gpu_run();
  run.backend = BackendId::mpi;
  run.log.reset();
  const std::string text = report_lab01(run, {});
  EXPECT_THAT(text, HasSubstr("No GPU took part: this is host memory through MPI."));
  EXPECT_THAT(text, HasSubstr("No GPU was used."));
}

}  // namespace
}  // namespace collbench::analysis::lab01_test
