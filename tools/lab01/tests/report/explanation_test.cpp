#include "tools/lab01/report/lab01.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tools/lab01/tests/report/runs.hpp"

namespace collbench::analysis::explanation_test {
namespace {

TEST(Lab01Explanation, WithoutAModelNobodySaysWhatHoldsARow) {
  const auto run = lab01_gpu_run();  // 19.7 and 447 GB/s
  EXPECT_EQ(lab01_explanation(run, run.rows[0], std::nullopt),
            "4.4 % of the run's peak (447 GB/s at 1 GiB); no expectation for this row.");
  EXPECT_TRUE(
      lab01_explanation(run, run.rows[1], std::nullopt).starts_with("the peak of this run, 447 GB/s"));
}

// 128 MiB at 129 GB/s on two p5 nodes is below half of the run's peak, and waits for no latency: the bytes
// are most of what it should take.
TEST(Lab01Explanation, WhetherStepsOrBytesBoundARowIsWhatTheModelSays) {
  const Lab01Machine machine = lab01_machine("p5");
  auto run = lab01_gpu_run();
  run.rows = {lab01_row(machine.cluster, 1 << 20, 1), lab01_row(machine.cluster, 1 << 27, 2.61),
              lab01_row(machine.cluster, 1ULL << 31U, 1.05)};
  EXPECT_THAT(lab01_explanation(run, run.rows[0], machine),
              testing::StartsWith("latency-bound by the model: "));
  const std::string slow = lab01_explanation(run, run.rows[1], machine);
  EXPECT_THAT(slow, testing::StartsWith("bandwidth-bound by the model: "));
  EXPECT_THAT(slow,
              testing::HasSubstr("is 0.38 of the expected 292 GB/s, below its band of 124 GB/s to 365 GB/s"));
  EXPECT_THAT(lab01_explanation(run, run.rows[2], machine), testing::HasSubstr("inside its band"));
}

TEST(Lab01Explanation, DecimalSizesAreWrittenAsTheyWereAskedFor) {
  EXPECT_EQ(lab01_size(1'000'000), "1 MB");
  EXPECT_EQ(lab01_size(1'000'000'000), "1 GB");
  EXPECT_EQ(lab01_size(1 << 20), "1 MiB");
  EXPECT_EQ(lab01_size(1 << 27), "128 MiB");
}

TEST(Lab01Explanation, AgainstTheExpectationAndWithTheLogsCauses) {
  auto run = lab01_gpu_run();
  run.rows[1].expectation.expected_seconds = 1.5e-3;
  run.rows[1].expectation.expected_by = "ring";
  run.rows[1].measurement.algorithm_ran = "ring";
  run.log->network = {"Socket", 22};
  EXPECT_EQ(lab01_explanation(run, run.rows[1], std::nullopt),
            "the peak of this run, 447 GB/s; takes 3.00 times as long as the ring model predicts; "
            "ring ran; "
            "NCCL used sockets, no RDMA (line 22).");
  run.rows[1].expectation.expected_seconds = 4.6e-3;
  EXPECT_NE(
      lab01_explanation(run, run.rows[1], std::nullopt).find("within 10 % of what the ring model predicts"),
      std::string::npos);
}

TEST(Lab01Explanation, SaysWhatPageFaultsTake) {
  auto run = lab01_gpu_run();
  run.calibration = Calibration{};
  run.calibration->intra = Tier{};
  run.calibration->points = {{CalibrationKind::page_fault, 4096, 1e-6, std::nullopt, std::nullopt}};
  run.rows[1].measurement.ranks = {{0, 4.5e-3, 0, 200}, {1, 4.5e-3, 0, 900}};
  EXPECT_TRUE(lab01_explanation(run, run.rows[1], std::nullopt)
                  .ends_with("; page faults take about 20 % of the time (mostly buffers that the library "
                             "reallocates on every call), which the expectation does not include."));
  run.rows[1].measurement.ranks[1].page_faults = 200;
  EXPECT_EQ(lab01_explanation(run, run.rows[1], std::nullopt).find("page faults"), std::string::npos);
}

TEST(Lab01Explanation, ARowSpeaksOfItselfAndTheVerdictOfTheSweep) {
  auto run = lab01_gpu_run();
  run.log->network = {"Socket", 22};
  EXPECT_EQ(lab01_verdict(run, run.rows[0]), "");
  run.rows[0].verdict = {VerdictWord::fault, "latency-bound; 2.0 % of the ring model"};
  run.rows[1].verdict = {VerdictWord::fault, "3 GB/s is 0.02 of the ring. Cause: sockets."};
  for (const Row& row : run.rows) {
    const std::string own = lab01_explanation(run, row, std::nullopt);
    EXPECT_EQ(own.find("ockets"), std::string::npos) << own;  // the verdict says it
    EXPECT_EQ(lab01_verdict(run, row), "FAULT: 3 GB/s is 0.02 of the ring. Cause: sockets.");
  }
}

}  // namespace
}  // namespace collbench::analysis::explanation_test
