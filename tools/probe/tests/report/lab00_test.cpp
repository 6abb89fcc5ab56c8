#include "tools/probe/report/lab00.hpp"

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "tests/analysis/probe/made_probes.hpp"

namespace collbench::analysis::lab00_test {
namespace {

TEST(Lab00, TheRidgeIsWhereMemoryAndArithmeticTakeAsLong) {
  const ProbeRecord host = made_host("n1");
  const Roofline roof = host_roofline(host).value();
  EXPECT_EQ(roof.flops, 400e9);
  EXPECT_EQ(roof.bytes, 40e9);
  EXPECT_EQ(roof.ridge(), 10);
  EXPECT_EQ(roof.bound(5), 200e9);
  EXPECT_EQ(roof.bound(20), 400e9);
  EXPECT_DOUBLE_EQ(matmul_intensity(120, 8), 10);  // n/12
  EXPECT_EQ(matmul_at_ridge(roof), 120);
  // H100: 794.5 TFLOP/s over 2.9 TB/s is 274 FLOP/B, and n/3 in BF16.
  EXPECT_EQ(matmul_at_ridge(gpu_rooflines(host).back()), 822);
}

TEST(Lab00, ThePageHasItsPartsAndEachProduct) {
  const std::string page = lab00_page(made_host("n1"), {2.0, "USD"}, "lab00.svg");
  for (const char* part :
       {"| n1, FP64 | 400 GFLOP/s | 40.0 GB/s | 10.0 FLOP/B | n = 120 |", "H100 SXM, BF16, published",
        "| 16 | 1.3 FLOP/B | 6 KiB | 53.3 GFLOP/s, by memory | 160 GFLOP/s | 300 % |",
        "| 1024 | 85.3 FLOP/B | 24 MiB | 400 GFLOP/s, by arithmetic | 320 GFLOP/s | 80 % |",
        "![Roofline](lab00.svg)", "n = 16 lies above its roof",
        "An hour costs 2.00 USD. It buys at most 1440 TFLOP",
        "Below 10.0 FLOP/B its memory, above that its arithmetic: Processor 7, 4 cores",
        "data sheet: 312 TFLOP/s"}) {
    EXPECT_NE(page.find(part), std::string::npos) << part << "\n" << page;
  }
  EXPECT_NE(lab00_page(made_host("n1"), {}, "").find("Not given: `--price`"), std::string::npos);
  EXPECT_THROW((void)lab00_page(made_gpus("H100", {2e12}), {}, ""), Error);
}

TEST(Lab00, ABusyOrUnevenMachineIsSaidFirst) {
  EXPECT_EQ(lab00_caveat(made_host("n1")), "");
  ProbeRecord busy = made_host("n1");
  busy.taken_share = 0.07;
  EXPECT_NE(lab00_page(busy, {}, "").find("found. **Not clean: others took 7 % of the cores' time"),
            std::string::npos);
  busy.taken_share.reset();  // as in a container: nothing is known of any
  EXPECT_EQ(lab00_caveat(busy), "");
  ProbeRecord uneven = made_host("n1");
  uneven.measurements.front().parts.front().windows = {50e9, 50e9, 50e9};
  EXPECT_NE(lab00_caveat(uneven).find("core 0 of n1: multiply-add FP64 makes 0.500"), std::string::npos);
}

TEST(Lab00, TheChartHasTheRoofsAndTheProducts) {
  const Chart chart = roofline_chart(made_host("n1"));
  ASSERT_EQ(chart.series.size(), 4U);
  EXPECT_EQ(chart.series[0].points[1].x, 10);
  EXPECT_EQ(chart.series[1].points.size(), 2U);
  EXPECT_EQ(chart.series[1].points[1].note, "n = 1024");
}

TEST(Lab00, AMeasuredGpuHasItsRoofBeforeThePublishedOnes) {
  ProbeRecord record = made_gpus("H100", {2e12});
  ProbeMeasurement gemm = record.measurements.front();
  gemm.id = "gpu-gemm-bf16";
  gemm.unit = ProbeUnit::flop;
  gemm.parts.front().windows = {6e14, 6e14};
  record.measurements.push_back(gemm);
  gemm.parts.front().windows = {5e14, 5e14};  // of another size
  record.measurements.push_back(gemm);
  const std::vector<Roofline> roofs = gpu_rooflines(record);
  ASSERT_EQ(roofs.size(), 3U);
  EXPECT_EQ(roofs.front().name, "GPU 0 (H100), BF16");
  EXPECT_EQ(roofs.front().flops, 6e14);
  EXPECT_EQ(gpu_rooflines(made_gpus("H100", {2e12})).size(), 2U) << "a copy alone is no roof";
}

}  // namespace
}  // namespace collbench::analysis::lab00_test
