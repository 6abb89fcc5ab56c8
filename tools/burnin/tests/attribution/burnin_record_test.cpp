#include "tools/burnin/attribution/burnin_record.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/error.hpp"
#include "tests/analysis/probe/made_probes.hpp"
#include "tests/base/impossible_values.hpp"
#include "tools/burnin/attribution/burnin_text.hpp"
#include "tools/burnin/attribution/failure_verdicts.hpp"
#include "tools/burnin/tests/attribution/made_burnin.hpp"

namespace collbench::analysis::burnin_record_test {
namespace {

TEST(BurninRecord, ReadBackItIsTheSame) {
  const BurninRecord record = broken_burnin();
  const BurninRecord read = burnin_from_json(burnin_json(record), "burnin.json");
  EXPECT_EQ(burnin_json(read), burnin_json(record));
  EXPECT_EQ(read.table.times, record.table.times);
  EXPECT_EQ(read.failures, record.failures);
}

TEST(BurninRecord, WhatIsNoBurnInIsRefused) {
  for (const char* text : {"", "[]", "{}", R"({"record": "x"})"}) {
    EXPECT_THROW((void)burnin_from_json(text, "burnin.json"), Error) << text;
  }
  std::string text = burnin_json(broken_burnin());
  text.replace(text.find("\"a\": 0"), 6, "\"a\": 6");
  EXPECT_THROW((void)burnin_from_json(text, "burnin.json"), Error);
}

TEST(BurninRecord, NumbersAndHostsThatNothingHasAreRefusedWithTheirPath) {
  BurninRecord record = broken_burnin();
  record.expected = 2e9;
  record.table.times[0].resent = record.table.times[0].waited = 0.01;
  record.table.leaf_of_node = {0, 0, 0, 1, 1, 1};
  record.groups = {{{BurninPhase::nodes, {1}, 0, false}, "AllReduce", 1e10, 9e9, true, 8e9, "hgx-h100"}};
  record.rises = {{"pairs", "n1", "mlx5_0 symbol_error", 1, 2, 3.0}};
  record.gpu_models = {{"n1", {"H100"}}};
  record.probes = {made_gpus("H100", {2.9e12})};
  record.probes[0].host = "n1";
  const auto json = nlohmann::json::parse(burnin_json(record));
  const auto read = [](const std::string& text, const std::string& file) {
    (void)burnin_from_json(text, file);
  };
  ASSERT_EQ(refusal_of(read, json.dump()), "");
  std::set<std::string> tried;
  expect_impossible_numbers_refused(json, read, {"findings", "unseen_below_times"}, tried);
  EXPECT_GE(tried.size(), 15U);
  expect_impossible_hosts_refused(json, read, {"/nodes/5", "/counter_rises/0/host", "/probes/0/host"});
  for (const double nothing : {0.0, 1e-300}) {  // it would be sent at an infinite rate
    nlohmann::json changed = json;
    changed["times"][3][3] = nothing;
    EXPECT_NE(refusal_of(read, changed.dump()).find("times[3][3] is"), std::string::npos);
  }
  nlohmann::json changed = json;
  changed["gpu_models"]["n1\n127.0.0.1"] = {"H100"};
  EXPECT_NE(refusal_of(read, changed.dump()).find("one of the record's nodes was expected"),
            std::string::npos);
  changed = json;
  changed["without_counters"]["n1\n127.0.0.1"] = "x";
  EXPECT_NE(refusal_of(read, changed.dump()).find("one of the record's nodes was expected"),
            std::string::npos);
}

TEST(BurninRecord, EachNodeIsInOneBucketAndTheGoodOnesAreListed) {
  const BurninRecord record = broken_burnin();
  EXPECT_EQ(good_nodes(record, ","), "n0,n1,n2,n3\n");
  EXPECT_EQ(good_nodes(record, "\n"), "n0\nn1\nn2\nn3\n");
  EXPECT_TRUE(lost_a_host(record));
  const std::string csv = burnin_csv(record);
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 1 + 40);
}

BurninRecord healthy(int nodes, int rails) {
  BurninRecord record;
  record.bytes = 1e6;  // in 1 ms: 1 GB/s
  record.table = made_pairs(nodes, rails, [](int, int, int) { return 1.0; });
  return record;
}

void fail(BurninRecord& record, int a, int b, int rail) {
  std::erase_if(record.table.times, [&](const RailTime& time) {
    return time.rail == rail && std::minmax(time.from, time.to) == std::minmax(a, b);
  });
  record.failures.push_back({std::min(a, b), std::max(a, b), rail, "no active port"});
}

TEST(BurninRecord, ANodeWithADeadRailIsBadAndNobodyElseIs) {
  BurninRecord record = healthy(6, 4);
  for (const int other : {0, 1, 3, 4, 5}) fail(record, 2, other, 1);
  EXPECT_EQ(good_nodes(record, ","), "n0,n1,n3,n4,n5\n");
  const Attribution found = attribute(record);
  EXPECT_EQ(found.nodes[2].bucket, Bucket::bad);
  EXPECT_EQ(found.nodes[2].why, "5 of 5 pairs on rail 1 gave no time: no active port");
  EXPECT_FALSE(lost_a_host(record));
  EXPECT_TRUE(failures_to_retry(record).empty());
}

TEST(BurninRecord, BothEndsOfAPairThatAlwaysFailsAreSuspect) {
  BurninRecord record = healthy(6, 1);
  fail(record, 1, 2, 0);
  EXPECT_EQ(good_nodes(record, ","), "n0,n3,n4,n5\n");
  EXPECT_EQ(attribute(record).nodes[1].bucket, Bucket::suspect);
  EXPECT_EQ(failures_to_retry(record), record.failures);
  EXPECT_NE(burnin_text(record, 80).find("\nno time: no active port"), std::string::npos);
}

TEST(BurninRecord, ARailThatFailsForAllIsNobodysFault) {
  BurninRecord record = healthy(4, 2);
  for (int a = 0; a < 4; ++a) {
    for (int b = a + 1; b < 4; ++b) fail(record, a, b, 1);
  }
  for (const NodeVerdict& node : attribute(record).nodes) EXPECT_EQ(node.bucket, Bucket::not_tested);
}

TEST(BurninRecord, WhoFallsShortOfWhatIsExpectedIsNotGood) {
  BurninRecord record = healthy(6, 1);
  record.expected = 1.02e9;
  EXPECT_EQ(good_nodes(record, ","), "n0,n1,n2,n3,n4,n5\n");
  record.expected = 2e9;
  EXPECT_EQ(good_nodes(record, ","), "\n");
  EXPECT_TRUE(
      burnin_text(record, 400)
          .starts_with(
              "BELOW: 6 of 6 nodes make less than 95 % of the expected 2 GB/s in their fastest pair (the "
              "fastest 1.002); 6 "))
      << burnin_text(record, 400);
  EXPECT_EQ(burnin_from_json(burnin_json(record), "burnin.json").expected, 2e9);
}

TEST(BurninRecord, ARailOnWhichNobodyMakesWhatIsExpectedIsNamedAndNoNode) {
  BurninRecord record = healthy(6, 2);
  for (RailTime& time : record.table.times) time.seconds *= time.rail == 1 ? 2 : 1;
  record.expected = 1e9;
  const Attribution found = attribute(record);
  ASSERT_EQ(found.blames.size(), 1U);
  EXPECT_EQ(found.blames[0].kind, BlameKind::rail);
  EXPECT_EQ(found.blames[0].rail, 1);
  for (const NodeVerdict& node : found.nodes) EXPECT_EQ(node.bucket, Bucket::good) << node.why;
  EXPECT_NE(burnin_text(record, 400).find("times the time of what is expected"), std::string::npos);
  // All rails slow: the nodes may be, and none is called good.
  record.expected = 4e9;
  for (const NodeVerdict& node : attribute(record).nodes) EXPECT_EQ(node.bucket, Bucket::suspect);
}

TEST(BurninRecord, AnAllClearSaysWhatItCouldNotHaveSeen) {
  EXPECT_NE(burnin_text(healthy(6, 1), 400).find("\nwhat takes less than 5.3 % longer"), std::string::npos)
      << burnin_text(healthy(6, 1), 400);
}

TEST(BurninRecord, WhereTimesScatterTooMuchNobodyIsHandedOutAsGood) {
  BurninRecord record = scattered_burnin();
  const Attribution found = attribute(record);
  EXPECT_GT(found.blind_below, kMaxBlind);
  for (const NodeVerdict& node : found.nodes) {
    EXPECT_EQ(node.bucket, Bucket::suspect);
    EXPECT_TRUE(node.held_back);
    EXPECT_NE(node.why.find("not known: what takes less than"), std::string::npos) << node.why;
  }
  EXPECT_EQ(good_nodes(record, "\n"), "\n");
  EXPECT_EQ(good_nodes(record, ","), "\n");
  EXPECT_TRUE(drain_lines(record).starts_with("# no host is bad, none to drain: 6 nodes: 0 good, 6 suspect"));
  EXPECT_EQ(burnin_json(record).find("\"bucket\": \"good\""), std::string::npos);
  EXPECT_EQ(burnin_json(record).find("\"result\": \"PASSED\""), std::string::npos);
  const std::string text = burnin_text(record, 400);
  EXPECT_NE(text.find("6 nodes: 0 good, 6 suspect"), std::string::npos) << text;
  // Once, not for each node.
  const std::size_t said = text.find("n0, n1, n2, n3, n4, n5 suspect: not known: what takes less than");
  ASSERT_NE(said, std::string::npos) << text;
  EXPECT_EQ(text.find("what takes less than", said + 60), std::string::npos) << text;
  // A reason of one's own goes before it.
  fail(record, 1, 2, 0);
  EXPECT_NE(attribute(record).nodes[1].why.find("no active port"), std::string::npos);
  // An expected rate that each node makes with somebody does not clear it with the others.
  record = scattered_burnin();
  record.expected = 1e6;
  EXPECT_EQ(good_nodes(record, ","), "\n");
  // One that nobody makes is said, however much the times scatter.
  record.expected = 1.1e9;
  for (const NodeVerdict& node : attribute(record).nodes)
    EXPECT_NE(node.why.find("its fastest pair"), std::string::npos) << node.why;
}

TEST(BurninRecord, WhoeverScatterHoldsBackIsStillMeasuredAgainst) {
  BurninRecord record = healthy(6, 1);
  std::uint64_t counter = 7;
  for (RailTime& time : record.table.times) {
    time.alone = false;
    time.seconds *= (1 + static_cast<double>(scrambled(counter++) % 1000) / 4000) * (time.from == 4 ? 20 : 1);
  }
  ASSERT_EQ(good_nodes(record, ","), "\n");
  EXPECT_FALSE(retests_of(record).empty());
}

TEST(BurninRecord, WithNoTimeFreeOfTheFitNobodyIsGood) {
  BurninRecord record = healthy(4, 1);
  fail(record, 1, 2, 0);
  fail(record, 1, 3, 0);
  record.failures.clear();  // as if --time had left them out; n0 met three others
  const Attribution found = attribute(record);
  for (const NodeVerdict& node : found.nodes) EXPECT_EQ(node.bucket, Bucket::not_tested);
  const std::string text = burnin_text(record, 400);
  EXPECT_NE(text.find("not tested: this design cannot tell: fewer than 8 pairs"), std::string::npos) << text;
  EXPECT_EQ(text.find("what takes less than"), std::string::npos) << text;
}

TEST(BurninRecord, WhatALaunchSaidNeedNotBeText) {
  BurninRecord record = healthy(4, 1);
  record.failures.push_back({0, 1, 0, "ssh: \xff"});
  EXPECT_NO_THROW((void)burnin_from_json(burnin_json(record), "burnin.json"));
}

TEST(BurninRecord, RetestsHaveGoodPairsToCompareWithAndNobodyOfABlamedLeaf) {
  BurninRecord record = healthy(0, 1);
  record.table =
      made_pairs(16, 1, [](int a, int b, int) { return a < 2 || b < 2 || a == 5 || b == 5 ? 1.5 : 1; });
  for (RailTime& time : record.table.times) time.alone = false;
  for (int node = 0; node < 16; ++node) record.table.leaf_of_node.push_back(node / 2);
  bool compares = false;
  for (const auto& [pair, rail] : retests_of(record)) {
    const auto [a, b] = pair;
    EXPECT_GE(a, 2);
    compares = compares || (a != 5 && b != 5);
  }
  EXPECT_TRUE(compares);
}

TEST(BurninRecord, GroupsAndCountersComeBackFromJson) {
  BurninRecord record;
  record.table = made_pairs(4, 2, [](int, int, int) { return 1.0; });
  record.bytes = 1e6;
  record.groups.push_back({{BurninPhase::rails, {0, 1, 2, 3}, 1, true}, "all_reduce", 1e9, 9e8});
  record.group_failures.push_back({{BurninPhase::whole, {0, 1}}, "exit status 1"});
  record.rises.push_back({"pairs", "n1.example", "mlx5_0/1 link_downed", 1, 2, 30});
  record.counter_notes.emplace_back("dmesg: refused");
  record.without_counters = {{"n3", "exit status 255"}};
  record.launcher_errors = {{"phase nodes", "--group-launcher: a rank ran on n9"}};
  record.phases_left_out = {left_out(BurninPhase::rails, "there is one rail"),
                            cut_by_time(BurninPhase::gpus)};
  record.settings = {{"--ranks-per-host", "2"}};
  const BurninRecord back = burnin_from_json(burnin_json(record), "x");
  EXPECT_EQ(back.groups, record.groups);
  EXPECT_EQ(back.group_failures, record.group_failures);
  EXPECT_EQ(back.rises, record.rises);
  EXPECT_EQ(back.counter_notes, record.counter_notes);
  EXPECT_EQ(back.without_counters, record.without_counters);
  EXPECT_EQ(back.launcher_errors, record.launcher_errors);
  EXPECT_EQ(back.phases_left_out, record.phases_left_out);
  EXPECT_EQ(back.phases_left_out.back().words, "gpus in part (--time)");
  EXPECT_TRUE(was_left_out(back, BurninPhase::rails));
  EXPECT_FALSE(was_left_out(back, BurninPhase::gpus));
  EXPECT_EQ(back.settings, record.settings);
  // A port that went down is no good host's.
  EXPECT_EQ(attribute(record).nodes[1].bucket, Bucket::suspect);
  EXPECT_NE(burnin_text(record, 200).find("phase pairs: n1.example mlx5_0/1 link_downed: 1 to 2"),
            std::string::npos);
  std::string text = burnin_json(record);
  text.replace(text.find("\"whole\""), 7, "\"hole\"");
  EXPECT_THROW((void)burnin_from_json(text, "x"), Error);
}

TEST(BurninRecord, WhatWasMeasuredOtherwiseIsNotGoneOnWith) {
  const std::map<std::string, std::string> one{{"--ranks-per-host", "1"}, {"NCCL_ALGO", "Ring"}};
  EXPECT_EQ(measured_otherwise(one, one), "");
  EXPECT_EQ(measured_otherwise({}, one), "does not say how it was measured");
  EXPECT_EQ(measured_otherwise(one, {{"--ranks-per-host", "2"}}),
            "was measured with --ranks-per-host '1' (now '2'), NCCL_ALGO 'Ring' (now not set)");
}

std::string text_of(const BurninRecord& record) {
  const std::string text = burnin_text(record, 500);
  return text.substr(0, text.find('\n'));
}

TEST(BurninRecord, ALauncherThatFailsOnAllHostsIsNoHostsFailure) {
  BurninRecord record = healthy(6, 1);
  for (int node = 0; node < 6; ++node)
    record.group_failures.push_back({{BurninPhase::nodes, {node}}, "exit status 1: srun: error"});
  EXPECT_EQ(nodes_in(attribute(record), Bucket::good).size(), 6U);
  EXPECT_FALSE(passes(record, attribute(record)));
  EXPECT_EQ(text_of(record),
            "6 nodes: 6 good, 0 suspect, 0 bad, 0 not tested; no launch of phase nodes worked; "
            "the findings below are of no single node");
  // Beside one that works it is that of the others.
  record.group_failures.erase(record.group_failures.begin());
  record.groups.push_back({{BurninPhase::nodes, {0}}, "all_reduce", 1e9, 1e9, true});
  EXPECT_EQ(names_of(record, attribute(record), Bucket::suspect).size(), 5U);
  EXPECT_EQ(text_of(record), "6 nodes: 1 good, 5 suspect, 0 bad, 0 not tested");
}

TEST(BurninRecord, WhereNoPairWorksNoHostIsLost) {
  BurninRecord record = healthy(4, 1);
  record.table.times.clear();
  for (int other = 1; other < 4; ++other) record.failures.push_back({0, other, 0, "srun: error"});
  EXPECT_FALSE(lost_a_host(record));
  EXPECT_TRUE(nodes_not_reached(record).empty());
  EXPECT_EQ(nodes_in(attribute(record), Bucket::not_tested).size(), 4U);
  EXPECT_NE(text_of(record).find("; no launch of phase pairs worked"), std::string::npos);
}

TEST(BurninRecord, APhaseThatItsLauncherEndedJudgesNobody) {
  BurninRecord record = healthy(6, 1);
  record.table.times.clear();
  for (int node = 0; node < 6; ++node)
    record.groups.push_back({{BurninPhase::nodes, {node}}, "all_reduce", 1e9, 1e9, true});
  EXPECT_EQ(nodes_in(attribute(record), Bucket::good).size(), 6U);
  record.launcher_errors = {{"phase pairs", "--launcher: a rank ran on n9"}};
  EXPECT_EQ(nodes_in(attribute(record), Bucket::not_tested).size(), 6U);
  EXPECT_EQ(text_of(record),
            "6 nodes: 0 good, 0 suspect, 0 bad, 6 not tested; phase pairs ended by its launcher");
}

TEST(BurninRecord, WhoDidNotAnswerIsCountedFirstAndKeepsItFromPassing) {
  BurninRecord record = healthy(6, 1);
  EXPECT_TRUE(passes(record, attribute(record)));
  record.without_counters = {{"n1", "exit status 255"}, {"n2", "exit status 255"}};
  EXPECT_FALSE(passes(record, attribute(record)));
  EXPECT_EQ(text_of(record), "6 nodes: 6 good, 0 suspect, 0 bad, 0 not tested; error counters of 2 not read");
  EXPECT_NE(burnin_text(record, 500).find("\nn1, n2 gave no error counters: exit status 255\n"),
            std::string::npos);
  for (int other = 0; other < 5; ++other) fail(record, 5, other, 0);
  EXPECT_EQ(nodes_not_reached(record), std::vector<int>{5});
  EXPECT_EQ(text_of(record),
            "6 nodes: 5 good, 0 suspect, 0 bad, 1 not tested; 1 not reached; error counters of 2 not read");
}

}  // namespace
}  // namespace collbench::analysis::burnin_record_test
