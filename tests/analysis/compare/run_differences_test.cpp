#include "analysis/compare/comparison.hpp"

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

TEST(RunDifferences, CountsThatOneRunRoundsAndTheOtherDoesNotAreSaidWhereTheyMatter) {
  const auto of_counts = [](OperationId id, std::uint64_t count, std::optional<bool> exact) {
    collbench::Run run = run_of_rows({{8, {1.0}}});
    run.rows[0].measurement.key.operation = id;
    run.rows[0].measurement.key.count = count;  // floats
    run.buffers.exact_counts = exact;
    return run;
  };
  const auto says = [&](OperationId id, std::uint64_t count) {
    const collbench::Run exact = of_counts(id, count, true);
    const collbench::Run rounded = of_counts(id, count, false);
    EXPECT_THAT(run_differences(exact, exact), IsEmpty());
    EXPECT_THAT(run_differences(rounded, rounded), IsEmpty());
    EXPECT_THAT(run_differences(of_counts(id, count, std::nullopt), rounded), IsEmpty()) << "nobody says";
    EXPECT_EQ(run_differences(exact, rounded).size(), run_differences(rounded, exact).size());
    return !run_differences(exact, rounded).empty();
  };
  for (const Operation& each : operations()) {
    SCOPED_TRACE(each.name);
    const bool is_in_parts =
        each.size_meaning == SizeMeaning::total || each.size_meaning == SizeMeaning::largest_rank_total;
    EXPECT_EQ(says(each.id, 41666), is_in_parts);
    EXPECT_EQ(says(each.id, 41664), each.size_meaning == SizeMeaning::largest_rank_total);
  }
  const auto lines = run_differences(of_counts(OperationId::all_gather, 41666, true),
                                     of_counts(OperationId::all_gather, 41664, false));
  EXPECT_THAT(lines, ElementsAre(::testing::StartsWith(
                         "each rank's part is rounded to whole elements in the base, and to 16 bytes in the "
                         "new run: ")));
}

TEST(RunDifferences, BuffersThatBeginLateAreSaid) {
  const collbench::Run base = run_of_rows({{8, {1.0}}});
  collbench::Run current = base;
  current.buffers.unaligned_elements = 3;
  EXPECT_THAT(run_differences(base, current), ElementsAre("elements before the data of each buffer: 0 → 3"));
}

TEST(RunDifferences, ATopologyThatCannotBeReadIsSaid) {
  collbench::Run base = run_of_rows({{8, {1.0}}});
  base.cluster =
      Cluster{.shapes = "{}", .nodes = {{.host = "n0", .shape = 0, .identity = {}}}, .summary = {}};
  EXPECT_THAT(run_differences(base, base), Contains(::testing::StartsWith("topology: not compared (")));
}

TEST(RunDifferences, ProcessesOfSeveralGpus) {
  const auto of_process = ::testing::HasSubstr("per process, ");
  collbench::Run base = run_of_rows({{8, {1.0}}});
  collbench::Run current = base;
  EXPECT_THAT(run_differences(base, current), Not(Contains(of_process)));
  current.process = {.gpus = 8, .threads = 2};
  EXPECT_THAT(run_differences(base, current),
              Contains(::testing::StartsWith("1 GPU per process, 1 thread → 8 GPUs per process, 2 threads: "
                                             "small sizes are limited by launch time")));
  base.log.emplace().gpus_per_process = {8, 1};
  base.log->threads_per_process = {2, 1};
  EXPECT_THAT(run_differences(base, current), Not(Contains(of_process)));
  base.log->gpus_per_process.reset();  // one that does not say
  EXPECT_THAT(run_differences(base, current), Not(Contains(of_process)));
}

TEST(ColdBelow, IsWhereOneSideMayHaveFoundItsDataInTheL2) {
  constexpr std::uint64_t kMebi = 1U << 20U;
  const auto walks = [](std::optional<std::uint64_t> bytes) {
    collbench::Run run = run_of_rows({{8, {1.0}}});
    run.backend = BackendId::nccl;
    run.buffers.walk_bytes = bytes;
    return run;
  };
  EXPECT_EQ(cold_below({walks(0)}, {walks(0)}), 0U);
  EXPECT_EQ(cold_below({walks(200 * kMebi)}, {walks(240 * kMebi)}), 0U);
  EXPECT_EQ(cold_below({walks(0)}, {walks(240 * kMebi)}), 240 * kMebi);
  EXPECT_EQ(cold_below({walks(240 * kMebi)}, {walks(0)}), 240 * kMebi);
  // nccl-tests with -e 8M, and with -e 8G.
  EXPECT_EQ(cold_below({walks(8 * kMebi)}, {walks(240 * kMebi)}), 240 * kMebi);
  EXPECT_EQ(cold_below({walks(0)}, {walks(8192 * kMebi)}), 512 * kMebi);
  EXPECT_EQ(cold_below({walks(std::nullopt)}, {walks(240 * kMebi)}), 0U);
  collbench::Run on_host = walks(0);
  on_host.backend = BackendId::mpi;
  EXPECT_EQ(cold_below({on_host}, {on_host}), 0U);
  // A record of a baseline that is hot, behind one that is cold.
  EXPECT_EQ(cold_below({walks(0), walks(240 * kMebi)}, {walks(240 * kMebi)}), 240 * kMebi);
  EXPECT_EQ(cold_below({walks(240 * kMebi), walks(0)}, {walks(240 * kMebi)}), 240 * kMebi);
}

}  // namespace
}  // namespace collbench::analysis
