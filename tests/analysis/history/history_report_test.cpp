#include "analysis/history/history_report.hpp"

#include <gmock/gmock.h>

#include "base/document/text_layout.hpp"
#include "tests/analysis/example_run.hpp"
#include "tests/analysis/hostile_texts.hpp"
#include "tests/base/lines.hpp"

namespace collbench::analysis::history_report_test {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

Run night(int number, double factor, const std::string& host) {
  auto run = example_run();
  run.started = "2026-10-" + std::to_string(10 + number) + "T02:00:00Z";
  for (Identity& rank : run.ranks) rank.host = host;
  for (Row& row : run.rows) row.measurement.seconds *= factor;
  return run;
}

std::string text_of(const std::vector<MachineHistory>& histories, int columns) {
  return text(history_document(histories, "b", false), {.columns = columns, .mark = "# "});
}

std::string page_of(const std::vector<MachineHistory>& histories, const std::string& name = "b") {
  return html_page(history_document(histories, name, true));
}

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

void expect_page(const std::string& text, int columns) {
  for (const std::string& line : lines_of(text)) EXPECT_LE(display_width(line), columns) << line;
}

TEST(HistoryText, NamesTheNightOfAChange) {
  MachineHistory history{"mpi-4ranks-2nodes-max", {"node01"}, {}};
  for (int i = 0; i < 20; ++i) history.runs.push_back(night(i, i < 10 ? 1 : 1.5, "node01"));
  for (const int columns : {80, 120}) {
    const std::string text = text_of({history}, columns);
    expect_page(text, columns);
    EXPECT_THAT(
        text,
        StartsWith("# 4 changes of level; 20 records of 1 machine\n\n# mpi-4ranks-2nodes-max on node01: "));
    EXPECT_THAT(text, HasSubstr("# 2026-10-20 02:00: AllReduce 8 B float sum, out of place: 50 % slower"));
  }
}

TEST(HistoryText, AChangeOfOneMachineDoesNotHideThatAnothersIsNotKnown) {
  MachineHistory changed{"mpi-4ranks-2nodes-max", {"node01"}, {}};
  for (int i = 0; i < 20; ++i) changed.runs.push_back(night(i, i < 10 ? 1 : 1.5, "node01"));
  const MachineHistory young{"another-kind", {"node02"}, {night(1, 1, "node02")}};
  EXPECT_THAT(text_of({changed, young}, 200),
              StartsWith("# 4 changes of level; not known for rows with too few records; 21 records of 2 "
                         "machines\n"));
}

TEST(HistoryText, OfTooFewNightsTheChangesAreNotKnown) {
  MachineHistory history{"mpi-4ranks-2nodes-max", {"node01"}, {}};
  for (int i = 0; i < 10; ++i) history.runs.push_back(night(i, i < 5 ? 1 : 3, "node01"));
  const std::string text = text_of({history}, 80);
  expect_page(text, 80);
  EXPECT_THAT(lines_of(text), Contains(testing::EndsWith(" –")));
  EXPECT_THAT(text,
              HasSubstr("# changes –: not known; with 4 rows, a change can be seen from 15 records on"));
}

TEST(HistoryText, EveryNodeOfAFleetIsInEveryBlockOfRows) {
  std::vector<MachineHistory> nodes;
  for (int i = 0; i < 9; ++i) {
    const std::string name = "a-node-" + std::to_string(i);
    collbench::Run run = night(i, i == 4 ? 2 : 1, name);
    for (std::uint64_t size = 16; size < 1U << 20U; size *= 2)
      run.rows.push_back(example_row(OperationId::all_gather, size, 5));
    nodes.push_back({"kind", {name}, {run}});
  }
  const std::string text = text_of(nodes, 80);
  expect_page(text, 80);
  EXPECT_THAT(text,
              StartsWith("# odd: a-node-4; no change of level seen; not known for rows with too few\n"));
  EXPECT_THAT(text, HasSubstr("# 9 nodes: newest record of each, time over the median of all; 1 odd"));
  std::size_t seen = 0;
  for (const std::string& line : lines_of(text)) seen += line.starts_with("  a-node-8") ? 1 : 0;
  EXPECT_EQ(seen, 2U) << "20 rows in two tables: " << text;
  EXPECT_THAT(lines_of(text), Contains(StartsWith("  a-node-4  2.00!  2.00!")));
}

TEST(HistoryText, OneNodeIsNoFleet) {
  EXPECT_THAT(text_of({{"kind", {"n"}, {example_run()}}}, 80), Not(HasSubstr("Nodes of")));
}

TEST(HistoryText, HostsThatNobodyNamedAreUnknown) {
  auto nameless = example_run();
  for (Identity& rank : nameless.ranks) rank.host.clear();
  EXPECT_THAT(text_of({{"kind", {""}, {nameless}}}, 80), HasSubstr("# kind on unknown hosts: 1 record"));
  EXPECT_EQ(fleet_table({nameless}).nodes.front().name, "unknown host");
}

TEST(HistoryText, RecordsOfLocalhostMayBeOfSeveralMachines) {
  EXPECT_THAT(
      text_of({{"kind", {"localhost"}, {example_run()}}}, 120),
      HasSubstr("# kind on localhost (may be several machines: judge --host NAME names one): 1 record"));
}

TEST(HistoryText, NamesDriveNoTerminal) {
  const MachineHistory history{"k\x1b[31m", {"h\n\x07"}, {night(0, 1, "x\x1b")}};
  EXPECT_EQ(text_of({history}, 80).find('\x1b'), std::string::npos);
}

TEST(HistoryPage, ARowThatChangedHasAChartWithItsLevels) {
  const std::string page = page_of({history("node1", 20)}, "/data/b");
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
  const std::string page = page_of({history("node1", 3)});
  EXPECT_THAT(page, HasSubstr("changes –: not known; with 2 rows, a change can be seen from"));
  EXPECT_THAT(page, Not(HasSubstr("level between changes")));
}

TEST(HistoryPage, NodesOfAKindStandSideBySide) {
  std::vector<MachineHistory> all;
  for (int node = 1; node <= 9; ++node) all.push_back(history("n" + std::to_string(node), 1));
  all[4].runs[0].rows[0].measurement.seconds *= 3;
  const std::string page = page_of(all);
  EXPECT_THAT(page, HasSubstr("Nodes of mpi-2ranks"));
  EXPECT_THAT(page, HasSubstr("9 nodes: newest record of each"));
  EXPECT_THAT(page, HasSubstr("3.00!"));
  EXPECT_THAT(page, HasSubstr("9 records of 9 machines"));
}

TEST(HistoryPage, NoFreeTextOfARecordReachesIt) {
  const auto locations = free_texts_of(run_of(10, 1, "n"));
  for (const std::string& hostile : kHostileTexts) {
    MachineHistory all{.kind = hostile, .hosts = {hostile}, .runs = {}};
    for (int night = 0; night < 3; ++night)
      all.runs.push_back(with_hostile_texts(run_of(10, 1 + night, "n"), locations, hostile));
    const std::string page = page_of({all, all}, hostile);
    expect_harmless(page, "html", hostile);
    EXPECT_THAT(page, Not(HasSubstr("<img src=x")));
    expect_harmless(text_of({all, all}, 100), "text", hostile);
  }
}

}  // namespace
}  // namespace collbench::analysis::history_report_test
