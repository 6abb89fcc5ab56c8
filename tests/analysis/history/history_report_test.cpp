#include "analysis/history/history_report.hpp"

#include <gmock/gmock.h>

#include "base/document/text_layout.hpp"
#include "tests/analysis/example_run.hpp"
#include "tests/base/lines.hpp"

namespace collbench::analysis::history_report_test {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::StartsWith;

Run night(int number, double factor, const std::string& host) {
  auto run = example_run();
  run.started = "2026-10-" + std::to_string(10 + number) + "T02:00:00Z";
  for (Identity& rank : run.ranks) rank.host = host;
  for (Row& row : run.rows) row.measurement.seconds *= factor;
  return run;
}

void expect_page(const std::string& text, int columns) {
  for (const std::string& line : lines_of(text)) EXPECT_LE(display_width(line), columns) << line;
}

TEST(HistoryText, NamesTheNightOfAChange) {
  MachineHistory history{"mpi-4ranks-2nodes-max", {"node01"}, {}};
  for (int i = 0; i < 20; ++i) history.runs.push_back(night(i, i < 10 ? 1 : 1.5, "node01"));
  for (const int columns : {80, 120}) {
    const std::string text = history_text(history, columns);
    expect_page(text, columns);
    EXPECT_THAT(text, StartsWith("# mpi-4ranks-2nodes-max on node01: 20 records, 2026-10-10 02:00 to"));
    EXPECT_THAT(text, HasSubstr("# 2026-10-20 02:00: AllReduce 8 B float sum, out of place: 50 % slower"));
  }
}

TEST(HistoryText, OfTooFewNightsTheChangesAreNotKnown) {
  MachineHistory history{"mpi-4ranks-2nodes-max", {"node01"}, {}};
  for (int i = 0; i < 10; ++i) history.runs.push_back(night(i, i < 5 ? 1 : 3, "node01"));
  const std::string text = history_text(history, 80);
  expect_page(text, 80);
  EXPECT_THAT(lines_of(text), Contains(testing::EndsWith(" –")));
  EXPECT_THAT(text, HasSubstr("# changes –: not known; a change of 4 rows can be seen from 15 records on"));
}

TEST(FleetText, HasEveryNodeInEveryBlockOfRows) {
  std::vector<collbench::Run> runs;
  for (int i = 0; i < 9; ++i) runs.push_back(night(i, i == 4 ? 2 : 1, "a-node-" + std::to_string(i)));
  for (collbench::Run& run : runs) {
    for (std::uint64_t size = 16; size < 1U << 20U; size *= 2)
      run.rows.push_back(example_row(OperationId::all_gather, size, 5));
  }
  const std::string text = fleet_text(fleet_table(runs), 80);
  expect_page(text, 80);
  EXPECT_THAT(text, StartsWith("# 9 nodes: newest record of each, time over the median of all; 1 odd"));
  std::size_t seen = 0;
  for (const std::string& line : lines_of(text)) seen += line.starts_with("  a-node-8") ? 1 : 0;
  EXPECT_EQ(seen, 3U) << "20 rows in blocks of 8";
  EXPECT_THAT(lines_of(text), Contains(StartsWith("  a-node-4   2.00!   2.00!")));
}

TEST(FleetText, OneNodeIsNoFleet) { EXPECT_EQ(fleet_text(fleet_table({example_run()}), 80), ""); }

TEST(HistoryText, HostsThatNobodyNamedAreUnknown) {
  auto nameless = example_run();
  for (Identity& rank : nameless.ranks) rank.host.clear();
  EXPECT_THAT(history_text({"kind", {""}, {nameless}}, 80), StartsWith("# kind on unknown hosts: 1 record"));
  EXPECT_EQ(fleet_table({nameless}).nodes.front().name, "unknown host");
}

TEST(HistoryText, RecordsOfLocalhostMayBeOfSeveralMachines) {
  EXPECT_THAT(
      history_text({"kind", {"localhost"}, {example_run()}}, 120),
      StartsWith("# kind on localhost (may be several machines: judge --host NAME names one): 1 record"));
}

TEST(HistoryText, NamesDriveNoTerminal) {
  const MachineHistory history{"k\x1b[31m", {"h\n\x07"}, {night(0, 1, "x\x1b")}};
  EXPECT_EQ(history_text(history, 80).find('\x1b'), std::string::npos);
}

}  // namespace
}  // namespace collbench::analysis::history_report_test
