#include "analysis/compare/run_differences.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/analysis/compare/compared_runs.hpp"

namespace collbench::analysis {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(RunDifferences, OfEqualRunsAreNone) {
  const collbench::Run run = run_of_rows({{8, {1.0}}});
  EXPECT_THAT(run_differences(run, run), IsEmpty());
}

TEST(RunDifferences, NameVersionsVariablesAndHosts) {
  collbench::Run base = run_of_rows({{8, {1.0}}});
  collbench::Run current = base;
  base.versions.nccl = "2.28.9";
  current.versions.nccl = "2.30.7";
  base.environment = {{"NCCL_PROTO", "LL"}, {"NCCL_DEBUG", "INFO"}, {"SLURM_JOB_ID", "1"}};
  current.environment = {{"NCCL_ALGO", "Ring"}, {"NCCL_DEBUG", "INFO"}, {"SLURM_JOB_ID", "2"}};
  current.ranks[1] = {.rank = 1, .host = "n7", .node = 1, .local_rank = 0};
  current.load_notes = {"n0: busy"};
  EXPECT_THAT(run_differences(base, current),
              ElementsAre("hosts: n0 → n0, n7", "ranks per node: 2 → 1, 1", "NCCL: 2.28.9 → 2.30.7",
                          "NCCL_ALGO: none → Ring", "NCCL_PROTO: LL → none", "new run: n0: busy"));
}

TEST(RunDifferences, NameTheClocksPowerAndThrottlingOfTheGpus) {
  const auto with_gpus = [](double clock, double watts, std::vector<GpuTrouble> troubles) {
    collbench::Run run = run_of_rows({{8, {1.0}}});
    run.telemetry = Telemetry{};
    for (int gpu = 0; gpu < 3; ++gpu) {
      GpuTelemetry& gauges = run.telemetry->gpus.emplace_back();
      gauges.sm_clock_hertz = Gauge{.before = 0, .least = 0, .most = clock + gpu * 1e6, .after = 0};
      gauges.power_watts = Gauge{.before = 0, .least = 0, .most = watts, .after = 0};
    }
    run.telemetry->gpus[1].troubles = std::move(troubles);
    return run;
  };
  const collbench::Run base = with_gpus(1979e6, 650, {GpuTrouble::pcie_replays});
  EXPECT_THAT(
      run_differences(base, with_gpus(1409e6, 655, {GpuTrouble::sw_power_cap, GpuTrouble::sync_boost})),
      ElementsAre("SM clock (the median GPU's highest): 1980 → 1410 MHz",
                  "reasons for lower clocks: none → SW power cap, sync boost"));
  EXPECT_THAT(run_differences(base, with_gpus(1965e6, 650, {})), IsEmpty()) << "a step of 15 MHz is none";
  EXPECT_THAT(run_differences(base, run_of_rows({{8, {1.0}}})), IsEmpty()) << "not known is no difference";
}

TEST(RunDifferences, ATopologyThatCannotBeReadIsSaid) {
  collbench::Run base = run_of_rows({{8, {1.0}}});
  base.cluster =
      Cluster{.shapes = "{}", .nodes = {{.host = "n0", .shape = 0, .identity = {}}}, .summary = {}};
  EXPECT_THAT(run_differences(base, base), Contains(::testing::StartsWith("topology: not compared (")));
}

}  // namespace
}  // namespace collbench::analysis
