#include "src/run/outcome.hpp"

#include <gmock/gmock.h>

#include "tests/analysis/example_run.hpp"

namespace collbench::program::next_step_test {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

/// Two ranks and nothing to complain of.
Run fine_run() {
  collbench::Run run = analysis::example_run();
  run.complete = true;
  run.load_notes.clear();
  run.rank_probe.reset();
  for (Row& row : run.rows) {
    row.measurement.stopped = Stop{StopReason::precision_reached};
    row.measurement.wrong.clear();
    row.verdict = {};
  }
  return run;
}

TEST(NextStep, GoesByTheWorstThatTheRunSaw) {
  collbench::Run run = fine_run();
  EXPECT_THAT(next_step(run, "run.json"), StartsWith("collbench report run.json -o page.html"));
  EXPECT_THAT(next_step(run, ""), StartsWith("the same command with -J run.json"));
  run.rows.front().measurement.stopped = Stop{StopReason::out_of_time};
  EXPECT_THAT(next_step(run, "run.json"), HasSubstr("four times --time"));
  run.load_notes = {"vm: other processes"};
  EXPECT_THAT(next_step(run, "run.json"), StartsWith("collbench repeat -- "));
  run.rank_probe.emplace();
  run.rank_probe->findings.emplace_back().ranks = {0};
  EXPECT_THAT(next_step(run, ""), StartsWith("collbench probe on " + run.ranks.front().host));
  run.network_notes = {"rank 0 (vm) retransmitted 2 % of its TCP bytes"};
  EXPECT_THAT(next_step(run, ""), StartsWith("collbench repeat -- ")) << "the link is to be looked at";
  run.rows.front().verdict.word = VerdictWord::below;
  EXPECT_THAT(next_step(run, ""), StartsWith("collbench doctor"));
  run.rows.back().measurement.wrong = {{1, "n7", 1, 0, "1", "2"}};
  EXPECT_EQ(next_step(run, ""), "collbench doctor on n7, whose ranks received wrong data");
}

TEST(NextStep, OneRankLearnsHowToStartMore) {
  collbench::Run run = fine_run();
  run.ranks.resize(1);
  EXPECT_THAT(next_step(run, ""), StartsWith("collbench launch"));
}

TEST(NextStep, ARunThatWasCutShortOrSimulatedHasNone) {
  collbench::Run run = fine_run();
  run.gpus_simulated = true;
  EXPECT_EQ(next_step(run, ""), "");
  run.gpus_simulated = false;
  run.complete = false;
  EXPECT_EQ(next_step_text(next_step(run, ""), 80), "");
  EXPECT_EQ(next_step_text("collbench doctor", 80), "# next: collbench doctor\n");
}

}  // namespace
}  // namespace collbench::program::next_step_test
