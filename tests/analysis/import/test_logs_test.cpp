#include "analysis/import/test_logs.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "analysis/charts/run_charts.hpp"
#include "analysis/compare/comparison.hpp"
#include "analysis/compare/comparison_report.hpp"
#include "analysis/history/history_report.hpp"
#include "analysis/history/machine_kind.hpp"
#include "analysis/import/join_logs.hpp"
#include "analysis/report/report.hpp"
#include "analysis/verdict/verdict.hpp"
#include "base/record/run.hpp"

namespace collbench::analysis::test_logs_test {
namespace {

/// A rate and a time.
Run run_with(double rate, double nanoseconds, const std::string& day = "2026-10-01T02:00:00Z") {
  TestLog log;
  log.format = "nvbandwidth text";
  log.program = "nvbandwidth";
  log.started = day;
  log.ranks = {{"node7", 4}};
  log.facts.gpu = {"NVIDIA H100", 5};
  EXPECT_TRUE(
      add_nvbandwidth_cell(log, "copy: GPU 0 -> GPU 1", "bandwidth (GB/s)", fmt::to_string(rate), 9, 0));
  EXPECT_TRUE(add_nvbandwidth_cell(log, "latency: CPU 0 <-> GPU 0", "latency (ns)",
                                   fmt::to_string(nanoseconds), 12, 0));
  return run_of_tests(std::move(log), {}, "a.log");
}

TEST(TestLogs, ARecordHoldsThem) {
  const auto run = run_with(250, 700);
  EXPECT_EQ(run_from_json_text(to_json_text(run), "saved"), run);
}

TEST(TestLogs, EveryFormatHasThem) {
  const auto run = run_with(250, 700);
  const std::map<std::string, std::vector<std::string>> wanted{
      {"text", {"250.00 copy: GPU 0 -> GPU 1", "0.70", "latency: CPU 0 <-> GPU 0", "no verdict: what these"}},
      {"md", {"250.00 | copy: GPU 0", "rate (GB/s)"}},
      {"html", {"250.00", "copy: GPU 0 -&gt; GPU 1"}},
      {"csv", {",copy: GPU 0 -> GPU 1,\n", "Test,,,,,,,auto", "7e-07"}},
      {"prom",
       {"collbench_bus_bandwidth_bytes_per_second{operation=\"test\",test=\"copy: GPU 0 -> GPU 1\"",
        "collbench_operation_seconds{operation=\"test\",test=\"latency: CPU 0 <-> GPU 0\""}},
      {"junit",
       {"name=\"Test copy: GPU 0 -&gt; GPU 1\"/>", "name=\"Test latency: CPU 0 &lt;-&gt; GPU 0\" time="}}};
  for (const auto& [format, texts] : wanted) {
    const std::string page = report(run, format);
    for (const std::string& text : texts) EXPECT_THAT(page, testing::HasSubstr(text)) << format;
  }
}

TEST(TestLogs, ARateHasNoTimeOfItsOwn) {
  const auto run = run_with(250, 700);
  EXPECT_THAT(report(run, "text"), testing::Not(testing::HasSubstr("4000")));  // µs of 1 GB
  EXPECT_THAT(report(run, "csv"), testing::Not(testing::HasSubstr("0.004")));
  EXPECT_THAT(report(run, "prom"),
              testing::Not(testing::HasSubstr("collbench_operation_seconds{operation=\"test\",test=\"copy")));
}

TEST(TestLogs, NothingOfThemIsModeledOrDrawn) {
  const auto run = run_with(250, 700);
  EXPECT_TRUE(series_of(run.rows).empty());
  EXPECT_TRUE(all_charts(run).empty());
}

TEST(TestLogs, AComparisonShowsRatesAsRates) {
  const Comparison found =
      compare({run_with(250, 700)}, {run_with(125, 710)}, {.launch_allowance = 0.1, .sitting_allowance = 0});
  ASSERT_EQ(found.rows.size(), 2U);
  EXPECT_EQ(found.rows[0].change, RowChange::slower);
  EXPECT_EQ(found.rows[1].change, RowChange::unclear);
  const std::string text = report(found, "text", {.columns = 140});
  EXPECT_THAT(text, testing::HasSubstr("250 GB/s"));
  EXPECT_THAT(text, testing::HasSubstr("125 GB/s"));
  EXPECT_THAT(text, testing::HasSubstr("Test copy: GPU 0 -> GPU 1"));
}

TEST(TestLogs, ABaselineKeepsThemByProgramAndGpu) {
  EXPECT_EQ(machine_kind(run_with(250, 700)), "nvbandwidth-1rank-1node-nvidia-h100-avg");
  const MachineHistory history{
      .kind = "k", .hosts = {"node7"}, .runs = {run_with(250, 700), run_with(240, 710)}};
  EXPECT_THAT(history_text(history, 118), testing::HasSubstr("240 GB/s"));
}

TEST(TestLogs, SeveralLogsAreLaunches) {
  const auto joined = join_logs({run_with(200, 700), run_with(100, 700), run_with(400, 700)});
  EXPECT_EQ(joined.launches, 3);
  EXPECT_DOUBLE_EQ(rates(joined.rows[0], 1).bus_bandwidth.value(), 200e9);
}

TEST(TestLogs, ADocumentIsFoundBetweenOtherLines) {
  EXPECT_EQ(tests_json_in("{\"rows\": []}"), "");
  EXPECT_EQ(tests_json_in("x {\"context\": 1}"), "");
  EXPECT_EQ(tests_json_in("x {\n {\"context\": 1}"), "{\"context\": 1}");
  EXPECT_EQ(tests_json_in("{"), "");
}

}  // namespace
}  // namespace collbench::analysis::test_logs_test
