#include "analysis/report/report.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <limits>

#include "tests/analysis/example_run.hpp"
#include "tests/base/lines.hpp"

namespace collbench::analysis::csv_test {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(ReportCsv, NamesItsColumnsWithTheirUnits) {
  EXPECT_EQ(
      lines_of(report_csv(example_run()))[0],
      "operation,size_bytes,count,type,reduction,root,place,algorithm_asked,algorithm_ran,ranks,nodes,"
      "backend,"
      "time_reduction,started,time_seconds,interval_low_seconds,interval_high_seconds,interval_confidence,"
      "algorithm_bandwidth_gb_per_s,bus_bandwidth_gb_per_s,ring_seconds,tree_seconds,expected_seconds,"
      "expected_by,expected_bus_bandwidth_gb_per_s,measured_over_expected,fastest_seconds,slowest_seconds,"
      "limited_by,nccl_algorithm,nccl_protocol,nccl_channels,nccl_expected_seconds,verdict,explanation,wrong_"
      "elements,enqueue_seconds,marks,step_compute_seconds,step_between_seconds,step_inside_seconds,"
      "step_alone_seconds,step_verdict,step_findings,passes,iterations,"
      "iterations_per_sample,samples,minimum_seconds,mean_seconds,median_seconds,p95_seconds,p99_seconds,"
      "variation,stopped,note,unavailable,incident,label,hosts,collbench_version,mpi_version,nccl_version,"
      "schema_version,nvls_seconds,gpus_simulated");
}

TEST(ReportCsv, HasALinePerRow) {
  Row row = example_row(OperationId::all_reduce, 8, 16);
  row.measurement.seconds = 16e-6;
  row.measurement.interval = {15e-6, 17e-6, 0.9922};
  row.measurement.minimum = 14e-6;
  row.measurement.mean = 16.5e-6;
  row.measurement.median = 16e-6;
  row.measurement.p95 = 18e-6;
  row.measurement.p99 = 19e-6;
  row.expectation = {32e-6, std::nullopt, 8e-6, "recursive_doubling"};
  auto run = example_run();
  run.ranks.resize(2);
  run.rows = {row};
  run.label = "nightly";
  EXPECT_EQ(
      lines_of(report_csv(run)).at(1),
      "AllReduce,8,2,float,sum,,out,auto,auto,2,1,mpi,max,2026-10-01T12:00:00Z,1.6e-05,1.5e-05,1.7e-05,"
      "0.9922,"
      "0.0005,0.0005,3.2e-05,,8e-06,recursive_doubling,0.001,0.5,,,,,,,,none,,0,,,,,,,,,8,8000,10,800,1.4e-"
      "05,1.65e-"
      "05,1."
      "6e-05,"
      "1.8e-05,1.9e-05,0.05,precision reached,,,,nightly,node01,0.1.0,\"Open MPI v4.1.4, package: Debian "
      "OpenMPI\",,2,,false");
}

TEST(ReportCsv, WhatIsNotKnownIsEmpty) {
  const auto lines = lines_of(report_csv(example_run()));
  ASSERT_EQ(lines.size(), 6U);
  EXPECT_EQ(lines[4],
            "AllReduce,8,2,float,sum,,out,neighbor,,4,2,mpi,max,2026-10-01T12:00:00Z,,,,,,,,,,,,,,,,,,,,none,"
            ",,,,,,,,,,0,0,"
            "1,0,,,,,,,,,"
            "this library has it for AllGather only,,,node01 node02,0.1.0,\"Open MPI v4.1.4, package: Debian "
            "OpenMPI\",,2,,false");
}

TEST(ReportCsv, WhatCutTheRunShortStandsInEveryLine) {
  auto run = example_run();
  run.incident = Incident{.kind = IncidentKind::hang,
                          .sentence = "rank 2 (node1) is stopped; ranks 0, 1 wait",
                          .ranks = {},
                          .step = "",
                          .pass = 0,
                          .call = 0,
                          .time = "",
                          .exit_status = 4};
  const auto lines = lines_of(report_csv(run));
  for (std::size_t i = 1; i < lines.size(); ++i)
    EXPECT_THAT(lines[i], HasSubstr(",\"rank 2 (node1) is stopped; ranks 0, 1 wait\",,node01 node02,"));
}

TEST(ReportCsv, HasWhatNcclUsedAndExpectedOfIt) {
  auto run = example_run();
  run.rows[0].measurement.nccl =
      NcclSelection{"tree", "ll", 4, {{"ring", "ll", 8e-6}, {"tree", "ll", 6.5e-6}}};
  EXPECT_THAT(lines_of(report_csv(run))[1], HasSubstr(",tree,ll,4,6.5e-06,none,"));
}

TEST(ReportCsv, EveryRowHasItsBandVerdictAndExplanation) {
  auto run = example_run();
  run.rows.resize(1);
  run.rows[0].expectation.fastest_seconds = 0.25;
  run.rows[0].expectation.slowest_seconds = 0.5;
  run.rows[0].expectation.limited_by = "8 NICs of 25 GB/s a node, 95 %";
  run.rows[0].verdict = {VerdictWord::below, "latency-bound: 0.5 of ring"};
  EXPECT_THAT(
      report_csv(run),
      HasSubstr(",0.25,0.5,\"8 NICs of 25 GB/s a node, 95 %\",,,,,BELOW,latency-bound: 0.5 of ring,"));
}

TEST(ReportCsv, EveryLineHasTheSameFields) {
  auto run = example_run();
  run.versions.mpi = "Open MPI";
  const auto lines = lines_of(report_csv(run));
  for (const std::string& line : lines) EXPECT_EQ(std::count(line.begin(), line.end(), ','), 65) << line;
}

TEST(ReportCsv, QuotesAsRfc4180Wants) {
  auto run = example_run();
  run.rows.resize(1);
  run.rows[0].measurement.note = "a, \"b\"\nc";
  EXPECT_THAT(report_csv(run), HasSubstr(",\"a, \"\"b\"\" c\",,,,node01 node02,"));
}

TEST(ReportCsv, NeverHoldsNanOrInfinity) {
  auto run = example_run();
  run.rows[0].measurement.p99 = std::numeric_limits<double>::quiet_NaN();
  run.rows[0].expectation.ring_seconds = std::numeric_limits<double>::infinity();
  EXPECT_THAT(report_csv(run), Not(testing::ContainsRegex(",(nan|inf)")));
}

}  // namespace
}  // namespace collbench::analysis::csv_test
