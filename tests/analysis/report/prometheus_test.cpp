#include <gmock/gmock.h>

#include <cstdlib>
#include <fstream>
#include <set>

#include "analysis/report/report.hpp"
#include "tests/analysis/example_run.hpp"
#include "tests/base/lines.hpp"
#include "tests/base/temporary_folder.hpp"

namespace collbench::analysis::prometheus_test {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

TEST(ReportPrometheus, HasASeriesPerRowInBaseUnits) {
  auto run = example_run();
  run.label = "nightly";
  run.rows[1].measurement.seconds = 0.1;
  const auto lines = lines_of(report_prometheus(run));
  const std::string row =
      R"({operation="all_reduce",size_bytes="67108864",type="float",reduction="sum",place="in",root="",algorithm="auto",)"
      R"(backend="mpi",ranks="4",label="nightly"} )";
  EXPECT_THAT(lines, Contains("# TYPE collbench_operation_seconds gauge"));
  EXPECT_THAT(lines, Contains("collbench_operation_seconds" + row + "0.1"));
  EXPECT_THAT(lines, Contains("collbench_bus_bandwidth_bytes_per_second" + row + "1006632960"));
  EXPECT_THAT(lines, Contains(R"(collbench_run_start_time_seconds{label="nightly"} 1790856000)"));
  EXPECT_THAT(lines, Contains(R"(collbench_run_complete{label="nightly"} 1)"));
}

TEST(ReportPrometheus, WhatIsNotKnownHasNoLine) {
  const std::string text = report_prometheus(example_run());
  EXPECT_THAT(text, Not(HasSubstr("collbench_low"))) << "no verdict on host memory";
  EXPECT_THAT(text, Not(HasSubstr("collbench_stragglers"))) << "nobody probed";
  EXPECT_THAT(text, Not(HasSubstr("neighbor"))) << "a row that was not run";
  EXPECT_THAT(text, Not(HasSubstr("nan")));
}

TEST(ReportPrometheus, SimulatedGpusAreALabelAndHaveNoTimes) {
  auto run = example_run();
  run.rows[1].measurement.wrong_elements = 0;
  run.rank_probe.emplace().repetitions = 1;
  EXPECT_THAT(report_prometheus(run), Not(HasSubstr("gpus_simulated")));
  run.gpus_simulated = true;
  const std::string text = report_prometheus(run);
  EXPECT_THAT(text, HasSubstr(R"(,gpus_simulated="true"} 1)"));
  EXPECT_THAT(text, HasSubstr("collbench_wrong_elements{"));
  for (const char* const of_time : {"collbench_operation", "bandwidth", "collbench_stragglers"})
    EXPECT_THAT(text, Not(HasSubstr(of_time)));
}

TEST(ReportPrometheus, NoSeriesStandsTwice) {
  auto run = example_run();
  run.rows.push_back(run.rows.front());
  const auto lines = lines_of(report_prometheus(run));
  std::set<std::string> seen;
  for (const std::string& line : lines)
    EXPECT_TRUE(seen.insert(line.substr(0, line.rfind(' '))).second || line.starts_with('#')) << line;
}

TEST(ReportPrometheus, ValuesOfLabelsAreEscaped) {
  auto run = example_run();
  run.label = "a\"b\\c\nd";
  EXPECT_THAT(report_prometheus(run), HasSubstr(R"(label="a\"b\\c d")"));
}

TEST(ReportPrometheus, PromtoolFindsNothingToSay) {
  if (std::system("command -v promtool > /dev/null 2>&1") != 0)
    GTEST_SKIP() << "no promtool (Debian: prometheus)";
  const TemporaryFolder folder;
  const std::string path = folder.path() / "run.prom";
  std::ofstream(path) << report_prometheus(example_run());
  EXPECT_EQ(std::system(("promtool check metrics < '" + path + "'").c_str()), 0);
}

}  // namespace
}  // namespace collbench::analysis::prometheus_test
