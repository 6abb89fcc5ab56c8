#include "tools/burnin/attribution/failure_verdicts.hpp"

#include <gtest/gtest.h>

#include <set>

#include "tools/burnin/tests/attribution/made_pairs.hpp"

namespace collbench::analysis::failure_verdicts_test {
namespace {

BurninRecord healthy(int nodes, int rails) {
  BurninRecord record;
  record.bytes = 1e6;
  record.table = made_pairs(nodes, rails, [](int, int, int) { return 1.0; });
  for (RailTime& time : record.table.times) time.alone = false;
  return record;
}

/// A node that met n0 and then died: the others never had a time with it, and nobody has one at the end.
BurninRecord with_a_death(int node, int rails) {
  BurninRecord record = healthy(6, rails);
  std::erase_if(record.table.times, [node](const RailTime& time) {
    return (time.from == node || time.to == node) && time.from != 0 && time.to != 0;
  });
  for (int other = 1; other < 6; ++other) {
    for (int rail = 0; rail < rails && other != node; ++rail)
      record.failures.push_back({other, node, rail, "no route", false});
  }
  return record;
}

/// What is measured at the end: whoever is in `dead` answers nobody.
void measure(BurninRecord& record, const std::vector<PairOnRail>& contacts, const std::set<int>& dead) {
  for (const auto& [pair, rail] : contacts) {
    if (dead.contains(pair.first) || dead.contains(pair.second)) {
      record.failures.push_back({pair.first, pair.second, rail, "no route", true});
    } else {
      record.table.times.push_back({pair.first, pair.second, rail, 1e-3, true});
    }
  }
}

TEST(FailureVerdicts, AHostThatDiesIsNotTestedAndTheRestIsGood) {
  BurninRecord record = with_a_death(3, 2);
  EXPECT_TRUE(last_contacts(record).empty());  // nothing has failed alone
  for (PairFailure& failure : record.failures) failure.alone = true;
  const std::vector<PairOnRail> contacts = last_contacts(record);
  // n0 is the only one that had answered it, on both rails.
  EXPECT_EQ(contacts, (std::vector<PairOnRail>{{{0, 3}, 0}, {{0, 3}, 1}}));
  measure(record, contacts, {3});
  const Attribution found = attribute(record);
  EXPECT_TRUE(lost_a_host(record));
  for (const NodeVerdict& node : found.nodes)
    EXPECT_EQ(node.bucket, node.node == 3 ? Bucket::not_tested : Bucket::good) << node.node << node.why;
  EXPECT_NE(found.nodes[3].why.find("at first, and at the end nobody"), std::string::npos);
}

TEST(FailureVerdicts, WhoDiesInTheLastRoundIsFoundByTwoThatAnswered) {
  BurninRecord record = healthy(6, 1);
  std::erase_if(record.table.times, [](const RailTime& time) { return time.from + time.to == 4 + 5; });
  record.failures.push_back({4, 5, 0, "no route", true});
  const std::vector<PairOnRail> contacts = last_contacts(record);
  EXPECT_EQ(contacts.size(), 5U);  // each of the two with n0 and n1, and these with each other
  measure(record, contacts, {5});
  const Attribution found = attribute(record);
  EXPECT_TRUE(lost_a_host(record));
  EXPECT_EQ(found.nodes[5].bucket, Bucket::not_tested);
  EXPECT_EQ(found.nodes[4].bucket, Bucket::good) << found.nodes[4].why;
}

TEST(FailureVerdicts, WhatAnEarlierRunSawAloneIsNoSignOfLife) {
  BurninRecord record = healthy(6, 1);
  std::erase_if(record.table.times, [](const RailTime& time) { return time.from + time.to == 4 + 5; });
  // It was suspected then, and answered alone; --resume goes on with the pair that failed.
  record.table.times.push_back({5, 0, 0, 1e-3, true});
  record.table.times.push_back({0, 5, 0, 1e-3, true});
  record.earlier_times = record.table.times.size();
  record.failures.push_back({4, 5, 0, "no route", true});
  measure(record, last_contacts(record), {5});
  const Attribution found = attribute(record);
  EXPECT_TRUE(lost_a_host(record));
  EXPECT_EQ(found.nodes[5].bucket, Bucket::not_tested) << found.nodes[5].why;
  EXPECT_EQ(found.nodes[4].bucket, Bucket::good) << found.nodes[4].why;
}

TEST(FailureVerdicts, APairThatFailsWhileBothAnswerOthersIsNoDeath) {
  BurninRecord record = healthy(6, 1);
  std::erase_if(record.table.times, [](const RailTime& time) { return time.from + time.to == 4 + 5; });
  record.failures.push_back({4, 5, 0, "refused", true});
  measure(record, last_contacts(record), {});
  const Attribution found = attribute(record);
  EXPECT_FALSE(lost_a_host(record));
  EXPECT_EQ(found.nodes[4].bucket, Bucket::suspect);
  EXPECT_EQ(found.nodes[5].bucket, Bucket::suspect);
}

TEST(FailureVerdicts, ARailThatDiesIsNoDeadHost) {
  BurninRecord record = healthy(6, 2);
  std::erase_if(record.table.times, [](const RailTime& time) {
    return time.rail == 1 && (time.from == 2 || time.to == 2) && time.from + time.to != 2;
  });
  for (const int other : {1, 3, 4, 5}) record.failures.push_back({other, 2, 1, "no port", true});
  const std::vector<PairOnRail> contacts = last_contacts(record);
  for (const auto& [pair, rail] : contacts) {
    if (rail == 0)
      record.table.times.push_back({pair.first, pair.second, rail, 1e-3, true});
    else
      record.failures.push_back({pair.first, pair.second, rail, "no port", true});
  }
  const Attribution found = attribute(record);
  EXPECT_FALSE(lost_a_host(record));
  EXPECT_EQ(found.nodes[2].bucket, Bucket::bad) << found.nodes[2].why;
}

/// A fleet in which these pairs gave no time.
BurninRecord without_times(int nodes, const std::set<std::pair<int, int>>& failed) {
  BurninRecord record = healthy(nodes, 1);
  std::erase_if(record.table.times,
                [&failed](const RailTime& time) { return failed.contains(std::minmax(time.from, time.to)); });
  for (const auto& [a, b] : failed) record.failures.push_back({a, b, 0, "srun: error: step creation", false});
  return record;
}

TEST(FailureVerdicts, FailuresThatFollowNoHostAreTheLaunchers) {
  // Every other pair, as a launcher's random errors: some host fails with more than it meets.
  std::set<std::pair<int, int>> failed;
  for (int a = 0; a < 8; ++a)
    for (int b = a + 1; b < 8; ++b)
      if ((a * 5 + b * 3) % 7 < 3) failed.insert({a, b});
  ASSERT_GT(failed.size(), 9U);
  for (const NodeVerdict& node : attribute(without_times(8, failed)).nodes) {
    EXPECT_EQ(node.bucket, Bucket::not_tested) << node.node << node.why;
    EXPECT_NE(node.why.find("failures follow no host"), std::string::npos) << node.why;
  }
}

TEST(FailureVerdicts, OneHostThatFailsBesideOthersThatWorkIsBadAndSoAreTwo) {
  for (const std::set<int>& dead : {std::set{3}, std::set{3, 6}}) {
    std::set<std::pair<int, int>> failed;
    for (const int node : dead)  // each still meets n0
      for (int other = 1; other < 8; ++other)
        if (other != node) failed.insert(std::minmax(node, other));
    const Attribution found = attribute(without_times(8, failed));
    for (const NodeVerdict& node : found.nodes)
      EXPECT_EQ(node.bucket, dead.contains(node.node) ? Bucket::bad : Bucket::good) << node.node << node.why;
  }
}

TEST(FailureVerdicts, APathOrTwoThatFailAreNotTheLauncher) {
  const Attribution found = attribute(without_times(8, {{1, 2}, {4, 5}}));
  for (const int node : {1, 2, 4, 5}) EXPECT_EQ(found.nodes[slot_of(node)].bucket, Bucket::suspect);
  for (const int node : {0, 3, 6, 7}) EXPECT_EQ(found.nodes[slot_of(node)].bucket, Bucket::good);
}

TEST(FailureVerdicts, AHostThatFailsWithAllButOneIsBadBesidePathsThatFail) {
  std::set<std::pair<int, int>> failed{{0, 1}, {2, 4}};
  for (int other = 1; other < 9; ++other)
    if (other != 3) failed.insert(std::minmax(3, other));
  const Attribution found = attribute(without_times(9, failed));
  EXPECT_EQ(found.nodes[3].bucket, Bucket::bad) << found.nodes[3].why;
}

TEST(FailureVerdicts, FailuresWithOneHostInCommonAreNoLaunchers) {
  const Attribution found = attribute(without_times(8, {{0, 5}, {1, 5}, {2, 5}}));
  for (const int node : {0, 1, 2, 5}) EXPECT_EQ(found.nodes[slot_of(node)].bucket, Bucket::suspect);
}

}  // namespace
}  // namespace collbench::analysis::failure_verdicts_test
