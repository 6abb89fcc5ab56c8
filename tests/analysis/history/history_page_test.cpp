#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "analysis/history/history_report.hpp"
#include "tests/analysis/hostile_texts.hpp"

namespace collbench::analysis::history_page_test {
namespace {

using testing::HasSubstr;
using testing::Not;

Run run_of(double microseconds, int day, const std::string& host) {
  Run run;
  run.ranks = {{0, host, 0, 0}, {1, host, 0, 1}};
  run.started = "2026-10-" + std::string(day < 10 ? "0" : "") + std::to_string(day) + "T02:00:00Z";
  for (const std::uint64_t size : {1024U, 2048U}) {
    Row row;
    row.measurement.key = {OperationId::all_reduce, size,  size / 4, DataType::float32,
                           Reduction::sum,          false, "auto"};
    // The first row changes its level, the second does not.
    row.measurement.seconds = (size == 1024 ? microseconds : 5.0) * 1e-6;
    run.rows.push_back(row);
  }
  return run;
}

MachineHistory history(const std::string& host, int records) {
  MachineHistory all{.kind = "mpi-2ranks", .hosts = {host}, .runs = {}};
  for (int day = 1; day <= records; ++day)
    all.runs.push_back(run_of(day <= records / 2 ? 10 + day * 0.001 : 12 + day * 0.001, day, host));
  return all;
}

TEST(HistoryPage, ARowThatChangedHasAChartWithItsLevels) {
  const std::string page = history_page({history("node1", 20)}, "/data/b");
  EXPECT_THAT(page, HasSubstr("Baseline /data/b"));
  EXPECT_THAT(page, HasSubstr("mpi-2ranks on node1: 20 records, 2026-10-01 02:00 to 2026-10-20 02:00"));
  EXPECT_THAT(
      page,
      HasSubstr("2026-10-11 02:00: AllReduce 1 KiB float sum, out of place: 20 % slower from there on"));
  EXPECT_THAT(page, HasSubstr("level between changes"));
  EXPECT_THAT(page, HasSubstr("AllReduce: rows without a change of level"));
  EXPECT_THAT(page, Not(HasSubstr("no row changed its level")));
}

TEST(HistoryPage, FewRecordsShowNoChange) {
  const std::string page = history_page({history("node1", 3)}, "b");
  EXPECT_THAT(page, HasSubstr("changes –: not known; a change of 2 rows can be seen from"));
  EXPECT_THAT(page, Not(HasSubstr("level between changes")));
}

TEST(HistoryPage, NodesOfAKindStandSideBySide) {
  std::vector<MachineHistory> all;
  for (int node = 1; node <= 9; ++node) all.push_back(history("n" + std::to_string(node), 1));
  all[4].runs[0].rows[0].measurement.seconds *= 3;
  const std::string page = history_page(all, "b");
  EXPECT_THAT(page, HasSubstr("Nodes of mpi-2ranks"));
  EXPECT_THAT(page, HasSubstr("9 nodes: newest record of each"));
  EXPECT_THAT(page, HasSubstr("3.00!"));
  EXPECT_THAT(page, HasSubstr("9 records of 9 machines"));
}

TEST(HistoryPage, TextOfAFolderIsThatOfItsMachines) {
  const std::vector<MachineHistory> all{history("n1", 2), history("n2", 2)};
  const std::string text = histories_text(all, 100);
  EXPECT_EQ(text, fleet_text(fleets_of(all).front(), 100) + "\n" + history_text(all[0], 100) + "\n" +
                      history_text(all[1], 100) + "\n");
}

TEST(HistoryPage, NoFreeTextOfARecordReachesIt) {
  const auto locations = free_texts_of(run_of(10, 1, "n"));
  for (const std::string& hostile : kHostileTexts) {
    MachineHistory all{.kind = hostile, .hosts = {hostile}, .runs = {}};
    for (int night = 0; night < 3; ++night)
      all.runs.push_back(with_hostile_texts(run_of(10, 1 + night, "n"), locations, hostile));
    const std::string page = history_page({all, all}, hostile);
    expect_harmless(page, "html", hostile);
    EXPECT_THAT(page, Not(HasSubstr("<img src=x")));
    expect_harmless(histories_text({all, all}, 100), "text", hostile);
  }
}

}  // namespace
}  // namespace collbench::analysis::history_page_test
