#include "tools/lab01/report/lab01.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/verdict/verdict.hpp"
#include "tools/lab01/tests/report/runs.hpp"

namespace collbench::analysis::lab01_test {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(ReportLab01, TheThreeSizesByTheirNearestRows) {
  const std::string text = report_lab01(lab01_gpu_run(), {});
  EXPECT_THAT(text, HasSubstr("| 1 MB | 1 MiB | 100.00 | – | – | – | 19.66 | – |"));
  EXPECT_THAT(text, HasSubstr("| 100 MB | – | – | – | – | – | – | – |"));
  EXPECT_THAT(text, HasSubstr("| 1 GB | 1 GiB | 4500.00 | – | – | – | 447.39 | – |"));
  EXPECT_THAT(text, HasSubstr("100 MB: the run has no AllReduce within a factor of 1.5 of it"));
}

TEST(ReportLab01, CeilingsStandInForWhatIsNotExpected) {
  Lab01Options options;
  options.ceilings.are_bounds = false;
  options.ceilings.links = {{"a", "b", 370e9, "c"}};
  options.ceilings.algorithms = {{"ring", "min(a, b)", {}, 370e9, {}, "s"},
                                 {"tree", "c", {}, 347e9, {}, "t"}};
  auto run = lab01_gpu_run();
  run.rows[0].expectation.ring_seconds = 50e-6;
  const std::string text = report_lab01(run, options);
  EXPECT_THAT(text, HasSubstr("| 1 MB | 1 MiB | 100.00 | 39.32 | ≤ 347.00 |"));
  EXPECT_THAT(text, HasSubstr("| 1 GB | 1 GiB | 4500.00 | ≤ 370.00 | ≤ 347.00 |"));
  EXPECT_THAT(text, HasSubstr("This is above what ring and tree reach by the links that NCCL's lines count"));
}

Lab01Options options_for(const Run& run, const Lab01Machine& machine) {
  Lab01Options options;
  options.machine = machine;
  options.ceilings = lab01_ceilings(run, machine);
  return options;
}

Run judged_run(const Lab01Machine& machine, const std::vector<std::pair<std::uint64_t, double>>& slower) {
  auto run = lab01_gpu_run();
  run.rows.clear();
  for (const auto& [bytes, factor] : slower) run.rows.push_back(lab01_row(machine.cluster, bytes, factor));
  return judged_on_gpus(run, machine.cluster);
}

TEST(ReportLab01, AHealthyH100PageBreaksNoTheory) {
  const Lab01Machine machine = lab01_machine();
  const auto run = judged_run(machine, {{1 << 20, 1}, {1 << 27, 1}, {1 << 30, 1}});
  const std::string text = report_lab01(run, options_for(run, machine));
  EXPECT_THAT(text, HasSubstr("NCCL reduced in the NVSwitch (NVLS)"));
  EXPECT_THAT(text, Not(HasSubstr("rank count is wrong")));
  EXPECT_THAT(text, Not(HasSubstr("does not speak for")));
}

TEST(ReportLab01, TheVerdictOfTheLargestSizesDoesNotCoverRowsBelowTheirBands) {
  const Lab01Machine machine = lab01_machine("p5");
  const auto run =
      judged_run(machine, {{1 << 27, 2.61}, {1 << 30, 1.1}, {1ULL << 31U, 1.05}, {1ULL << 32U, 1.05}});
  const std::string text = report_lab01(run, options_for(run, machine));
  EXPECT_THAT(text, Not(HasSubstr("All sizes")));
  EXPECT_THAT(text, HasSubstr("- Verdict, by the run's largest sizes: SOUND: "));
  EXPECT_THAT(text,
              HasSubstr("It does not speak for 100 MB (0.38 of expected), which is below its own band."));
}

TEST(ReportLab01, AMeasurementAboveEveryLineRateIsNoMeasurementOfThisMachine) {
  const Lab01Machine machine = lab01_machine("dgx-a100", 2);
  const auto run = judged_run(machine, {{1 << 30, 0.3}});
  EXPECT_THAT(
      report_lab01(run, options_for(run, machine)),
      HasSubstr("This is above the line rate of every algorithm: the given machine or rank count is wrong."));
}

TEST(ReportLab01, APredictionSaysNothingOfMeasurements) {
  const Lab01Machine machine = lab01_machine();
  const auto run = lab01_prediction(machine.cluster);
  Lab01Options options = options_for(run, machine);
  options.prediction = "hgx-h100: 2 nodes";
  const std::string text = report_lab01(run, options);
  EXPECT_THAT(text, HasSubstr("# Lab 01: AllReduce, expected\n"));
  EXPECT_THAT(text, HasSubstr("| 1 GB | 1 GB | "));
  EXPECT_THAT(text, HasSubstr("| **expected** |"));
  EXPECT_THAT(text, Not(HasSubstr("easured at")));
  EXPECT_THAT(text, Not(HasSubstr("what is left")));
  EXPECT_THAT(text, Not(HasSubstr("Verdict")));
}

TEST(ReportLab01, WhatToGiveInPlaceOfATopology) {
  Lab01Options options;
  options.without_machine = "give --topology hgx-h100";
  EXPECT_THAT(report_lab01(lab01_gpu_run(), options), HasSubstr("give --topology hgx-h100"));
}

TEST(ReportLab01, HostMemorySaysSo) {
  auto run = lab01_gpu_run();
  run.backend = BackendId::mpi;
  run.log.reset();
  const std::string text = report_lab01(run, {});
  EXPECT_THAT(text, HasSubstr("No GPU took part: this is host memory through MPI."));
  EXPECT_THAT(text, HasSubstr("No GPU was used."));
}

Run run_on(const char* gpu, int ranks_per_node) {
  auto run = lab01_gpu_run();
  run.log->gpu = {gpu, 5};
  run.log->ranks_per_node = {ranks_per_node, 4};
  return run;
}

TEST(Lab01Suggestion, TheReferenceMachinesWithTheLogsGpus) {
  auto run = run_on("NVIDIA H100 80GB HBM3", 8);
  EXPECT_EQ(
      lab01_suggestion(run),
      "No topology is given; the log's GPUs are NVIDIA H100 80GB HBM3, 8 per node: --topology hgx-h100 fits "
      "(so do p5, a3-mega, oci-h100, ndv5).");
  run.log->network = {"AWS Libfabric", 9};
  EXPECT_THAT(lab01_suggestion(run), HasSubstr("--topology p5 fits."));
  run.log->nodes.reset();
  EXPECT_THAT(lab01_suggestion(run), HasSubstr("the number of nodes goes with --nodes"));
}

TEST(Lab01Suggestion, NoMachineThatTheLogRulesOut) {
  EXPECT_THAT(lab01_suggestion(run_on("NVIDIA H100 80GB HBM3", 16)),
              HasSubstr("no reference machine has them: collbench topo save -o node.json"));
  EXPECT_THAT(lab01_suggestion(run_on("NVIDIA Quantum 9000", 8)), HasSubstr("no reference machine has them"));
  auto bridged = run_on("NVIDIA A100 80GB PCIe", 2);
  bridged.log->nodes = {1, 3};
  EXPECT_THAT(lab01_suggestion(bridged), HasSubstr("--topology a100-pcie fits"));
  bridged.log->nvlink_most_bytes_per_second = {240e9, 7};  // cards with a bridge, which that machine has not
  EXPECT_THAT(lab01_suggestion(bridged), Not(HasSubstr("fits")));
}

TEST(Lab01Suggestion, ALogThatNamesNoGpu) {
  EXPECT_THAT(lab01_suggestion(lab01_gpu_run()), HasSubstr("the log does not name its GPUs"));
}

}  // namespace
}  // namespace collbench::analysis::lab01_test
