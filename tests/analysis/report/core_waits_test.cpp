#include <gmock/gmock.h>

#include "analysis/report/sections.hpp"
#include "base/units.hpp"

namespace collbench::analysis::core_waits_test {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

/// A row of two ranks that waited so much for their cores.
Row row_of(std::uint64_t bytes, std::optional<double> first, std::optional<double> second) {
  Row row;
  row.measurement.key.size_bytes = bytes;
  row.measurement.ranks = {{.rank = 0, .core_wait_share = first}, {.rank = 1, .core_wait_share = second}};
  return row;
}

collbench::Run run_of(std::vector<Row> rows) {
  collbench::Run run;
  run.rows = std::move(rows);
  run.ranks = {{0, "a", 0, 0}, {1, "b", 1, 0}};
  return run;
}

TEST(CoreWaits, TheRankThatWaitedMostIsNamedWithTheRowAndHowMany) {
  const collbench::Run run = run_of({row_of(8, 0.01, 0.3), row_of(kMiB, {}, 0.48), row_of(kGiB, 0.0, 0.04)});
  const ReportLines lines = core_wait_lines(run);
  ASSERT_THAT(lines, SizeIs(1));
  EXPECT_THAT(
      lines[0].text,
      HasSubstr("rank 1 (b) was ready to run and had no core for 48 % of the time of AllReduce 1 MiB"));
  EXPECT_THAT(lines[0].text, HasSubstr("(5 % or more in 2 rows)"));
  EXPECT_THAT(lines[0].text, Not(HasSubstr("other rank")));
  EXPECT_THAT(core_wait_of(run, 1), HasSubstr("; it had no core for 48 % of the time of AllReduce 1 MiB"));
  EXPECT_EQ(core_wait_of(run, 0), "");
}

TEST(CoreWaits, ARankThatTheRecordDoesNotListIsNamedWithoutAHost) {
  collbench::Run run = run_of({row_of(8, 0.5, {})});
  run.rows[0].measurement.ranks[0].rank = 7;
  EXPECT_THAT(core_wait_lines(run)[0].text, HasSubstr("rank 7 was ready"));
}

TEST(CoreWaits, HowManyMoreIsSaid) {
  EXPECT_THAT(core_wait_lines(run_of({row_of(8, 0.5, 0.4)}))[0].text,
              HasSubstr("(5 % or more in 1 row; 1 other rank as well)"));
}

TEST(CoreWaits, OfAQuietMachineAndWhereNobodyLookedNothingIsSaid) {
  EXPECT_THAT(core_wait_lines(run_of({row_of(8, 0.02, 0.049)})), IsEmpty());
  EXPECT_THAT(core_wait_lines(run_of({row_of(8, {}, {})})), IsEmpty());
  EXPECT_THAT(core_wait_lines({}), IsEmpty());
}

}  // namespace
}  // namespace collbench::analysis::core_waits_test
