#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "analysis/report/report.hpp"
#include "analysis/verdict/verdict.hpp"
#include "tests/analysis/models/nccl/clusters.hpp"
#include "tests/analysis/verdict/judged_rows.hpp"

namespace collbench::analysis::ticket_test {
namespace {

using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

std::string ticket(double slower) {
  const GpuCluster cluster = cluster_of("ndv4", 2);
  collbench::Run run = run_from_expectation(cluster, slower);
  run.complete = true;
  run.environment = {{"NCCL_ALGO", "Ring"}, {"GLIBC_TUNABLES", "x"}};
  for (Row& row : run.rows) row.measurement.algorithm_ran = "ring";
  return report_ticket(judged_on_gpus(run, cluster));
}

TEST(Ticket, HasWhatASupportTeamNeeds) {
  const std::string text = ticket(2);
  EXPECT_THAT(text, StartsWith("BELOW: 2 × 8 ranks; worst: AllReduce, 0.50 of expected"));
  EXPECT_THAT(text, AllOf(HasSubstr("\nfinding: AllReduce float: BELOW: "),
                          HasSubstr("\nsettings: NCCL_ALGO=Ring\n"), Not(HasSubstr("GLIBC_TUNABLES"))));
  // The rates that somebody with nccl-tests alone compares with.
  EXPECT_THAT(text,
              HasSubstr("\nmeasured: AllReduce 4 GiB: busbw 94.4 GB/s, expected 189 GB/s; SOUND from "));
  EXPECT_THAT(text, HasSubstr("\nwith nccl-tests: mpirun -np 16 -x NCCL_ALGO all_reduce_perf -b 4294967296 "
                              "-e 4294967296 -d float "));
  EXPECT_LE(std::count(text.begin(), text.end(), '\n'), 20);
}

TEST(Ticket, TheCommandHasTheHostsWhereEachHasAsManyRanks) {
  const GpuCluster cluster = cluster_of("ndv4", 2);
  collbench::Run run = run_from_expectation(cluster, 2);
  for (Identity& rank : run.ranks) rank.host = rank.node == 0 ? "n1" : "n2";
  EXPECT_THAT(report_ticket(judged_on_gpus(run, cluster)),
              HasSubstr("mpirun -np 16 -H n1:8,n2:8 all_reduce_perf"));
  run = judged_on_gpus(run, cluster);
  run.ranks.pop_back();
  EXPECT_THAT(report_ticket(run), HasSubstr("mpirun -np 15 all_reduce_perf"));
}

TEST(Ticket, ASoundMachineHasNothingToFind) {
  const std::string text = ticket(1);
  EXPECT_THAT(text, AllOf(StartsWith("SOUND: "), HasSubstr("\nmeasured: AllReduce 4 GiB: "),
                          Not(HasSubstr("finding:")), Not(HasSubstr("all_reduce_perf"))));
}

TEST(Ticket, OfWrongDataSaysWhereAndHowToSeeIt) {
  const GpuCluster cluster = cluster_of("ndv4", 2);
  collbench::Run run = run_from_expectation(cluster, 1);
  run.complete = true;
  run.rows.back().measurement.wrong_elements = 3;
  const std::string text = report_ticket(judged_on_gpus(run, cluster));
  EXPECT_THAT(text, AllOf(StartsWith("WRONG DATA in 1 row; "), HasSubstr("\nfinding: WRONG DATA: AllReduce "),
                          HasSubstr(" all_reduce_perf -b ")));
}

TEST(Ticket, WithoutAVerdictSaysWhyFirst) {
  collbench::Run run;
  EXPECT_THAT(report_ticket(run), AllOf(StartsWith("no verdict on host memory"), Not(HasSubstr("limits:"))));
}

TEST(Ticket, BeginsWithWhatIsSimulatedAndCallsTheRunByItsName) {
  collbench::Run run;
  run.gpus_simulated = true;
  run.incident.emplace().sentence = "rank 3 is gone";
  EXPECT_THAT(report_ticket(run),
              AllOf(StartsWith("SIMULATED GPUs: "), HasSubstr("\nno verdict: simulated GPUs\n"),
                    ContainsRegex("\nfinding: .*rank 3 is gone"), HasSubstr("\nrun: collbench "),
                    Not(HasSubstr("run: SIMULATED"))));
}

}  // namespace
}  // namespace collbench::analysis::ticket_test
