#include "analysis/report/lab01/lab01.hpp"

#include <gtest/gtest.h>

#include "tests/analysis/report/lab01/runs.hpp"

namespace collbench::analysis::explanation_test {
namespace {

TEST(Lab01Explanation, BelowHalfOfThePeakIsLatency) {
  const auto run = lab01_gpu_run();  // 19.7 and 447 GB/s
  EXPECT_EQ(lab01_explanation(run, run.rows[0]),
            "latency-bound: 4.4 % of the run's peak (447 GB/s at 1 GiB); no expectation for "
            "this row.");
  EXPECT_TRUE(
      lab01_explanation(run, run.rows[1]).starts_with("bandwidth-bound: the peak of this run, 447 GB/s"));
}

TEST(Lab01Explanation, AgainstTheExpectationAndWithTheLogsCauses) {
  auto run = lab01_gpu_run();
  run.rows[1].expectation.expected_seconds = 1.5e-3;
  run.rows[1].expectation.expected_by = "ring";
  run.rows[1].measurement.algorithm_ran = "ring";
  run.log->network = {"Socket", 22};
  EXPECT_EQ(
      lab01_explanation(run, run.rows[1]),
      "bandwidth-bound: the peak of this run, 447 GB/s; takes 3.00 times as long as the ring model predicts; "
      "ring ran; "
      "NCCL used sockets, no RDMA (line 22).");
  run.rows[1].expectation.expected_seconds = 4.6e-3;
  EXPECT_NE(lab01_explanation(run, run.rows[1]).find("within 10 % of what the ring model predicts"),
            std::string::npos);
}

TEST(Lab01Explanation, SaysWhatPageFaultsTake) {
  auto run = lab01_gpu_run();
  run.calibration = Calibration{};
  run.calibration->points = {{CalibrationKind::page_fault, 4096, 1e-6, std::nullopt, std::nullopt}};
  run.rows[1].measurement.ranks = {{0, 4.5e-3, 0, 200}, {1, 4.5e-3, 0, 900}};
  EXPECT_TRUE(lab01_explanation(run, run.rows[1])
                  .ends_with("; page faults take about 20 % of the time (mostly buffers that the library "
                             "reallocates on every call), which the expectation does not include."));
  run.rows[1].measurement.ranks[1].page_faults = 200;
  EXPECT_EQ(lab01_explanation(run, run.rows[1]).find("page faults"), std::string::npos);
}

TEST(Lab01Explanation, AJudgedRowExplainsItselfAndTheLargestStandsForAll) {
  auto run = lab01_gpu_run();
  run.log->network = {"Socket", 22};
  EXPECT_EQ(lab01_verdict(run, run.rows[0]), "");
  run.rows[0].verdict = {VerdictWord::fault, "latency-bound; 2.0 % of the ring model"};
  run.rows[1].verdict = {VerdictWord::fault, "3 GB/s is 0.02 of the ring. Cause: sockets."};
  EXPECT_EQ(lab01_explanation(run, run.rows[0]), "latency-bound; 2.0 % of the ring model.");
  const std::string largest = lab01_explanation(run, run.rows[1]);
  EXPECT_EQ(largest.find("sockets"), std::string::npos) << largest;  // the verdict says it
  for (const Row& row : run.rows) {
    EXPECT_EQ(lab01_verdict(run, row), "FAULT: 3 GB/s is 0.02 of the ring. Cause: sockets.");
  }
}

}  // namespace
}  // namespace collbench::analysis::explanation_test
