#include "analysis/import/join_logs.hpp"

#include <gmock/gmock.h>

#include "analysis/import/import_log.hpp"
#include "base/error.hpp"

namespace collbench::analysis::join_logs_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Run osu(const std::string& file, const std::string& test, const std::string& time, int ranks = 4) {
  return import_log("mpirun -np " + std::to_string(ranks) + " osu_test\n# OSU MPI " + test +
                        " Latency Test v7.5\n1024 " + time + "\n",
                    file, {});
}

TEST(JoinLogs, RowsOfDifferentLogsStandInOneRun) {
  const auto run = join_logs({osu("a", "Allreduce", "10"), osu("b", "Broadcast", "20")});
  ASSERT_EQ(run.rows.size(), 2U);
  EXPECT_EQ(run.rows[1].measurement.key.operation, OperationId::broadcast);
  EXPECT_EQ(run.launches, 1);
  EXPECT_EQ(run.log->file, "a, b");
}

TEST(JoinLogs, TheSameRowInSeveralLogsIsOfSeveralLaunches) {
  const auto run =
      join_logs({osu("a", "Allreduce", "10"), osu("b", "Allreduce", "30"), osu("c", "Allreduce", "11")});
  ASSERT_EQ(run.rows.size(), 1U);
  const Measurement& row = run.rows[0].measurement;
  EXPECT_DOUBLE_EQ(row.seconds, 11e-6);
  EXPECT_THAT(row.launch_passes, ElementsAre(1, 1, 1));
  EXPECT_EQ(run.launches, 3);
  EXPECT_TRUE(run.repeated);
  EXPECT_FALSE(row.interval) << "of fewer than six";
}

TEST(JoinLogs, LogsOfOtherRanksAreRefused) {
  try {
    static_cast<void>(join_logs({osu("a", "Allreduce", "10"), osu("b", "Allreduce", "10", 8)}));
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(describe(error), HasSubstr("b: it is of 8 ranks, and a of 4 ranks"));
  }
}

}  // namespace
}  // namespace collbench::analysis::join_logs_test
