#include "tools/burnin/attribution/pair_outcome.hpp"

#include <gtest/gtest.h>

#include "base/record/run.hpp"

namespace collbench::analysis::pair_outcome_test {
namespace {

/// Two ranks on these hosts; a broadcast from rank 0 takes 1 ms, from rank 1 2 ms.
std::string record_on(const std::string& first, const std::string& second) {
  Run run;
  run.ranks = {{.rank = 0, .host = first}, {.rank = 1, .host = second}};
  for (const int root : {0, 1}) {
    Row row;
    row.measurement.key.root = root;
    row.measurement.pass_seconds = {3e-3, 1e-3 * (root + 1)};
    run.rows.push_back(row);
  }
  return run_to_json(run).dump();
}

TEST(PairOutcome, WhoSentIsWhatTheRecordSaysNotTheOrderOfTheLaunch) {
  const PairOutcome outcome = pair_outcome(record_on("a.cluster", "B"), "a", "b.cluster");
  EXPECT_EQ(outcome.why, "");
  EXPECT_DOUBLE_EQ(outcome.from_a, 1e-3);
  EXPECT_DOUBLE_EQ(outcome.from_b, 2e-3);
  EXPECT_DOUBLE_EQ(pair_outcome(record_on("b", "a"), "a", "b").from_a, 2e-3);
}

TEST(PairOutcome, EachEndIsOfTheHostThatItsRankRanOn) {
  const std::vector<RankUse> uses{{1, 3, 2'000'000, 20'000}, {4, 0, 1'000, 500}};
  const PairOutcome outcome = pair_outcome(record_on("a", "b"), "a", "b", uses);
  EXPECT_DOUBLE_EQ(outcome.a.resent.value_or(-1), 0.01);
  EXPECT_DOUBLE_EQ(outcome.a.waited.value_or(-1), 0.75);
  EXPECT_FALSE(outcome.b.resent) << "of 1 kB nobody knows a share";
  EXPECT_DOUBLE_EQ(outcome.b.waited.value_or(-1), 0);
  const PairOutcome turned = pair_outcome(record_on("b", "a"), "a", "b", uses);
  EXPECT_DOUBLE_EQ(turned.b.resent.value_or(-1), 0.01);
  EXPECT_DOUBLE_EQ(turned.a.waited.value_or(-1), 0);
}

TEST(PairOutcome, RanksThatRanElsewhereGiveNoTimeAndAreTheLaunchersError) {
  EXPECT_EQ(pair_outcome(record_on("a", "a"), "a", "b").misplaced, "no rank ran on b");
  EXPECT_EQ(pair_outcome(record_on("a", "c"), "a", "b").misplaced, "a rank ran on c");
  const PairOutcome elsewhere = pair_outcome(record_on("a1", "b"), "a", "b");
  EXPECT_EQ(elsewhere.misplaced, "a rank ran on a1");
  EXPECT_EQ(elsewhere.why, "");
  EXPECT_EQ(elsewhere.from_a, 0);
}

TEST(PairOutcome, WhatIsNoRecordGivesNoTime) {
  for (const char* text : {"", "hi", "{}"}) {
    EXPECT_NE(pair_outcome(text, "a", "b").why.find("no record"), std::string::npos) << text;
  }
}

TEST(PairOutcome, TheFirstWordsOfAFailureAreNoFrame) {
  EXPECT_EQ(first_words("-----\n\nORTE was unable to start\nmore"), "ORTE was unable to start");
  EXPECT_EQ(first_words("---\nmpirun: x\ncollbench: --time: no\n"), "collbench: --time: no");
  EXPECT_EQ(first_words("srun: Warning: can't honor\n[n1:7] *** Process received signal ***\nsrun: error: "
                        "n1: task 0: Killed\n"),
            "srun: error: n1: task 0: Killed");
  EXPECT_EQ(first_words("[n1:7] Signal: 11\n----\nmpirun noticed that process rank 1\n"),
            "mpirun noticed that process rank 1");
  EXPECT_EQ(first_words("-----\n"), "");
  EXPECT_EQ(first_words(""), "");
}

}  // namespace
}  // namespace collbench::analysis::pair_outcome_test
