#include "analysis/import/import_log.hpp"

#include <gmock/gmock.h>

#include "base/error.hpp"
#include "tests/analysis/import/read_text.hpp"

namespace collbench::analysis::join_runs_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

RunOfFile osu(const std::string& file, const std::string& test, const std::string& time, int ranks = 4) {
  return {file, import_log("mpirun -np " + std::to_string(ranks) + " osu_test\n# OSU MPI " + test +
                               " Latency Test v7.5\n1024 " + time + "\n",
                           file, {})};
}

/// The same as a record of our own: without a log.
RunOfFile record(const std::string& file, const std::string& test, const std::string& time) {
  RunOfFile made = osu(file, test, time);
  made.run.log.reset();
  return made;
}

RunOfFile on_gpu(const std::string& file, const std::string& gpu) {
  RunOfFile made = osu(file, "Allreduce", "10");
  made.run.backend = BackendId::nccl;
  if (!gpu.empty()) made.run.log->gpu = LogFact<std::string>{gpu, 3};
  return made;
}

std::string refusal(const RunOfFile& a, const RunOfFile& b) {
  try {
    static_cast<void>(join_runs({a, b}));
  } catch (const Error& error) {
    return describe(error);
  }
  return "joined";
}

TEST(JoinRuns, RowsOfDifferentLogsStandInOneRun) {
  const auto joined = join_runs({osu("a", "Allreduce", "10"), osu("b", "Broadcast", "20")});
  ASSERT_EQ(joined.run.rows.size(), 2U);
  EXPECT_EQ(joined.run.rows[1].measurement.key.operation, OperationId::broadcast);
  EXPECT_EQ(joined.run.launches, 1);
  EXPECT_EQ(joined.run.log->file, "a, b");
  EXPECT_EQ(joined.file, "a, b");
}

TEST(JoinRuns, TheSameRowInSeveralLogsIsOfSeveralLaunches) {
  const auto run =
      join_runs({osu("a", "Allreduce", "10"), osu("b", "Allreduce", "30"), osu("c", "Allreduce", "11")}).run;
  ASSERT_EQ(run.rows.size(), 1U);
  const Measurement& row = run.rows[0].measurement;
  EXPECT_DOUBLE_EQ(row.seconds, 11e-6);
  EXPECT_THAT(row.launch_passes, ElementsAre(1, 1, 1));
  EXPECT_EQ(run.launches, 3);
  EXPECT_TRUE(run.repeated);
  EXPECT_FALSE(row.interval) << "of fewer than six";
}

TEST(JoinRuns, LaunchesOfOtherCommandsAreSaidToBe) {
  const auto note = [](const std::string& command) {
    RunOfFile other = osu("b", "Allreduce", "30");
    other.run.log->command = LogFact<std::string>{command, 1};
    RunOfFile first = osu("a", "Allreduce", "10");
    first.run.log->command = LogFact<std::string>{"./all_reduce_perf -b 8 -g 4", 1};
    return join_runs({first, other}).run.log->notes;
  };
  EXPECT_THAT(note("./all_reduce_perf -b 1G -g 4"), testing::IsEmpty());
  EXPECT_THAT(note("NCCL_ALGO=Tree ./all_reduce_perf -b 8 -g 4"),
              ElementsAre("b ran another command, and its rows count as launches of the same: NCCL_ALGO=Tree "
                          "./all_reduce_perf -b 8 -g 4"));
}

TEST(JoinRuns, RecordsOfTheSameRowsAreLaunchesAndOthersStandSideBySide) {
  const auto launches = join_runs({record("a", "Allreduce", "10"), record("b", "Allreduce", "30"),
                                   record("c", "Allreduce", "11")})
                            .run;
  EXPECT_DOUBLE_EQ(launches.rows.at(0).measurement.seconds, 11e-6);
  EXPECT_EQ(launches.launches, 3);
  EXPECT_TRUE(launches.repeated);
  EXPECT_EQ(join_runs({record("a", "Allreduce", "10"), osu("b", "Broadcast", "30")}).run.rows.size(), 2U);
}

TEST(JoinRuns, OfARecordWithManyPassesTheLaunchCountsOnce) {
  RunOfFile many = record("a", "Allreduce", "10");
  many.run.rows.push_back(
      record("a", "Broadcast", "5").run.rows[0]);  // so that the files differ in their rows
  many.run.rows[0].measurement.pass_seconds = {10e-6, 10e-6, 10e-6};
  many.run.rows[0].measurement.launch_passes = {3};
  const auto run = join_runs({many, record("b", "Allreduce", "20")}).run;
  EXPECT_DOUBLE_EQ(run.rows[0].measurement.seconds, 15e-6);
  EXPECT_THAT(run.rows[0].measurement.launch_passes, ElementsAre(1, 1));
  // One that has several launches has a time of each.
  many.run.rows[0].measurement.pass_seconds = {10e-6, 10e-6, 12e-6};
  many.run.rows[0].measurement.launch_passes = {2, 1};
  EXPECT_DOUBLE_EQ(join_runs({many, record("b", "Allreduce", "20")}).run.rows[0].measurement.seconds, 12e-6);
}

TEST(JoinRuns, ARowThatWasNotMeasuredIsNoLaunch) {
  RunOfFile cut = osu("a", "Allreduce", "10");
  cut.run.rows[0].measurement.seconds = 0;
  for (const auto& files :
       {std::vector{cut, osu("b", "Allreduce", "30")}, {osu("b", "Allreduce", "30"), cut}})
    EXPECT_DOUBLE_EQ(join_runs(files).run.rows.at(0).measurement.seconds, 30e-6);
}

TEST(JoinRuns, OtherRanksOrAnotherMachineAreRefused) {
  EXPECT_THAT(refusal(osu("a", "Allreduce", "10"), osu("b", "Allreduce", "10", 8)),
              HasSubstr("b: it is of 8 ranks, and a of 4 ranks"));
  EXPECT_THAT(refusal(on_gpu("a", "NVIDIA H100"), on_gpu("b", "NVIDIA A100")),
              HasSubstr("b: it is of NVIDIA A100, and a of NVIDIA H100"));
  EXPECT_THAT(refusal(on_gpu("a", ""), osu("b", "Allreduce", "10")), HasSubstr("b: it is of "));
  EXPECT_EQ(refusal(on_gpu("a", "NVIDIA H100"), on_gpu("b", "")), "joined") << "which does not say it";
  RunOfFile other = on_gpu("b", "NVIDIA H100");
  other.run.log->topology = LogFact<std::string>{"ndv4", 0};
  EXPECT_EQ(refusal(on_gpu("a", "NVIDIA H100"), other), "joined");
  RunOfFile first = on_gpu("a", "NVIDIA H100");
  first.run.log->topology = LogFact<std::string>{"p5", 0};
  EXPECT_THAT(refusal(first, other), HasSubstr("b: it is of ndv4, and a of p5"));
}

}  // namespace
}  // namespace collbench::analysis::join_runs_test
