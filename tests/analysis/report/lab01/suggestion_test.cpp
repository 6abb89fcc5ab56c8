#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/report/lab01/lab01.hpp"
#include "tests/analysis/report/lab01/runs.hpp"

namespace collbench::analysis::suggestion_test {
namespace {

using testing::HasSubstr;
using testing::Not;

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
      "No topology is given; the log's GPUs are NVIDIA H100 80GB HBM3, 8 to a node: --topology hgx-h100 fits "
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
}  // namespace collbench::analysis::suggestion_test
