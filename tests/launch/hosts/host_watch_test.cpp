#include "launch/hosts/host_watch.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace collbench::launch::host_watch_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr int kTimeoutLooks = 160;

/// Three hosts of two ranks.
Identities machines() {
  Identities all;
  for (int rank = 0; rank < 6; ++rank) {
    all.push_back(
        {.rank = rank, .host = "host" + std::to_string(rank / 2), .node = rank / 2, .local_rank = rank % 2});
  }
  return all;
}

RankActivity activity(int rank, std::uint64_t steps) {
  RankActivity made;
  made.rank = rank;
  made.steps = steps;
  return made;
}

std::vector<RankActivity> ranks_of(int node, std::uint64_t steps) {
  return {activity(2 * node, steps), activity(2 * node + 1, steps)};
}

/// All listen; the port is the rank.
std::vector<WatchPoint> points() {
  std::vector<WatchPoint> all;
  for (const int rank : listening_ranks(machines()))
    all.push_back({.rank = rank, .node = rank / 2, .address = {"a", static_cast<std::uint16_t>(rank)}});
  return all;
}

/// A rank's watch, whose questions wait to be carried on.
struct Rank {
  explicit Rank(int rank) : watch(machines(), rank, kTimeoutLooks) {
    watch.begin(points(), [this](const auto& to, auto line, auto done) {
      asked.clear();
      for (const NetworkAddress& each : to) asked.push_back(each.port);
      question = std::move(line);
      end = std::move(done);
    });
  }
  /// What it asked goes to `other`, which is the one at `index` that it would ask; and its answer back.
  void carry_to(Rank& other, std::size_t index = 0) const {
    end(HostNetwork::Answered{index, other.watch.answer(question).value_or("no answer")});
  }
  void nobody_answers() const { end(std::nullopt); }
  void looks(int count) {
    for (int i = 0; i < count; ++i) static_cast<void>(watch.is_due(0));
  }

  HostWatch watch;
  std::vector<int> asked;
  std::string question;
  std::function<void(HostWatch::Answered)> end;
};

TEST(ListeningRanks, SeveralOfTheFirstHostAndOneOfSomeOthers) {
  EXPECT_THAT(listening_ranks(machines()), ElementsAre(0, 1, 2, 4));
  Identities many;
  for (int rank = 0; rank < 100; ++rank)
    many.push_back({.rank = rank, .host = "h", .node = rank / 10, .local_rank = rank % 10});
  EXPECT_THAT(listening_ranks(many), ElementsAre(0, 1, 2, 3, 10, 20, 30, 40));
}

TEST(HeartbeatPoint, OnRankZerosHostForWhoIsAlone) {
  EXPECT_EQ(heartbeat_point(machines(), points(), 2), std::nullopt) << "not alone";
  Identities mixed{{.rank = 0, .host = "a", .node = 0, .local_rank = 0},
                   {.rank = 1, .host = "a", .node = 0, .local_rank = 1}};
  for (int rank = 2; rank < 1002; ++rank)
    mixed.push_back({.rank = rank, .host = "b", .node = rank - 1, .local_rank = 0});
  const std::vector<WatchPoint> both{{.rank = 0, .node = 0, .address = {}},
                                     {.rank = 1, .node = 0, .address = {}},
                                     {.rank = 2, .node = 1, .address = {}}};
  EXPECT_EQ(heartbeat_point(mixed, both, 2), 0U);
  EXPECT_EQ(heartbeat_point(mixed, both, 3), 1U);
  EXPECT_EQ(heartbeat_point(mixed, both, 513), 1U);
  EXPECT_EQ(heartbeat_point(mixed, both, 514), std::nullopt) << "more than a process should have open";
}

TEST(HeartbeatPoint, RankZeroAloneHasItOnAnotherHost) {
  const Identities alone{{.rank = 0, .host = "a", .node = 0, .local_rank = 0},
                         {.rank = 1, .host = "b", .node = 1, .local_rank = 0}};
  const std::vector<WatchPoint> both{{.rank = 0, .node = 0, .address = {}},
                                     {.rank = 1, .node = 1, .address = {}}};
  EXPECT_EQ(heartbeat_point(alone, both, 0), 1U);
  EXPECT_EQ(heartbeat_point(alone, both, 1), 0U);
  EXPECT_EQ(heartbeat_point(alone, {both[0]}, 0), std::nullopt);
}

TEST(HostWatch, OfALostHeartbeatTheRankIsMissingUntilItMakesAnotherOne) {
  Rank root(0);
  root.watch.lost("garbage");
  root.watch.lost(report_line({.node = 1, .ranks = {activity(4, 1)}}));  // another's rank
  EXPECT_FALSE(root.watch.view().missing);
  root.watch.lost(report_line({.node = 1, .ranks = {activity(2, 7)}}));
  root.watch.lost(report_line({.node = 2, .ranks = {activity(4, 8)}}));
  root.looks(3);
  const auto missing = root.watch.view().missing;
  ASSERT_TRUE(missing);
  EXPECT_EQ(missing->rank.rank, 2) << "the first one took the other along";
  EXPECT_EQ(missing->rank.steps, 7U);
  EXPECT_EQ(missing->rank.process, ProcessState::gone);
  EXPECT_EQ(missing->looks, 3);
  root.watch.found(report_line({.node = 1, .ranks = {activity(2, 8)}}));
  ASSERT_TRUE(root.watch.view().missing);
  EXPECT_EQ(root.watch.view().missing->rank.rank, 4);
  root.watch.note_progress();
  root.looks(2);
  EXPECT_EQ(root.watch.view().missing->looks, 2) << "since this host's last progress";
  root.watch.found("garbage");
  root.watch.found(report_line({.node = 2, .ranks = {activity(4, 8)}}));
  EXPECT_FALSE(root.watch.view().missing);
}

TEST(HostWatch, StrangersAreCountedUntilATimeoutPassesWithoutOne) {
  Rank root(0);
  for (int i = 0; i < 3; ++i) {
    root.watch.crowded();
    root.looks(kTimeoutLooks);
  }
  EXPECT_EQ(root.watch.closed_strangers(), 3);
  root.looks(1);
  EXPECT_EQ(root.watch.closed_strangers(), 0);
}

TEST(HostWatch, TheFirstThatAnswersDecides) {
  Rank root(0);
  root.watch.report(ranks_of(0, 1));
  EXPECT_TRUE(root.watch.view().decides);
  EXPECT_THAT(root.asked, IsEmpty());

  Rank other(2);
  other.watch.report(ranks_of(1, 1));
  EXPECT_THAT(other.asked, ElementsAre(0, 1));
  other.carry_to(root);
  EXPECT_FALSE(other.watch.view().decides);
  other.watch.report(ranks_of(1, 1));
  other.nobody_answers();
  EXPECT_TRUE(other.watch.view().decides);
}

TEST(HostWatch, WhoDoesNotListenNeverDecides) {
  Rank rank(3);
  rank.watch.report(ranks_of(1, 1));
  EXPECT_THAT(rank.asked, ElementsAre(0, 1, 4));  // not its own host's, which would speak itself
  rank.nobody_answers();
  EXPECT_FALSE(rank.watch.view().decides);
}

TEST(HostWatch, TheSecondRankOfTheFirstHostAsksNobody) {
  Rank second(1);
  second.watch.report(ranks_of(0, 1));
  EXPECT_THAT(second.asked, IsEmpty());
  EXPECT_TRUE(second.watch.view().decides);
}

TEST(HostWatch, ProgressOfOneHostIsHeardByAll) {
  Rank root(0);
  Rank one(2);
  Rank two(4);
  const auto round = [&](std::uint64_t steps_of_two) {
    root.watch.report(ranks_of(0, 5));
    two.watch.report(ranks_of(2, steps_of_two));
    two.carry_to(root);
    one.watch.report(ranks_of(1, 5));
    one.carry_to(root);
    static_cast<void>(two.watch.view());
    return std::pair(root.watch.view().others_go_on, one.watch.view().others_go_on);
  };
  EXPECT_EQ(round(5), std::pair(false, false));
  EXPECT_EQ(round(5), std::pair(false, false));
  EXPECT_EQ(round(6), std::pair(true, true));
  EXPECT_EQ(round(6), std::pair(false, false));
}

TEST(HostWatch, AnotherOneThatAnswersIsNoProgress) {
  Rank root(0);
  Rank second(1);
  Rank one(2);
  for (const std::uint64_t steps : {1U, 2U, 3U}) root.watch.report(ranks_of(0, steps));
  one.watch.report(ranks_of(1, 5));
  one.carry_to(root);
  one.watch.report(ranks_of(1, 5));
  one.carry_to(second, 1);
  EXPECT_FALSE(one.watch.view().others_go_on);
  one.watch.report(ranks_of(1, 5));
  one.nobody_answers();
  EXPECT_FALSE(one.watch.view().others_go_on);
}

TEST(HostWatch, WhatWasSaidIsKnownToAllThatReportThen) {
  Rank root(0);
  Rank one(2);
  Rank two(4);
  for (Rank* const rank : {&one, &two}) {
    rank->watch.report(ranks_of(rank == &one ? 1 : 2, 5));
    rank->carry_to(root);
  }
  root.watch.say();
  EXPECT_FALSE(root.watch.all_know());
  for (Rank* const rank : {&one, &two}) {
    EXPECT_FALSE(rank->watch.view().is_said);
    rank->watch.report(ranks_of(rank == &one ? 1 : 2, 5));
    rank->carry_to(root);
    EXPECT_TRUE(rank->watch.view().is_said);
  }
  EXPECT_TRUE(root.watch.all_know());
}

TEST(HostWatch, AHostThatDoesNotReportIsSilent) {
  Rank root(0);
  Rank one(2);
  root.looks(kTimeoutLooks / 2);
  one.watch.report(ranks_of(1, 5));
  one.carry_to(root);
  root.looks(1);
  const std::vector<SilentHost> silent = root.watch.silent_hosts();
  ASSERT_THAT(silent, SizeIs(1));
  EXPECT_EQ(silent[0].host, "host2");
  EXPECT_THAT(silent[0].ranks, ElementsAre(4, 5));
  EXPECT_THAT(root.watch.ranks_elsewhere(), SizeIs(2));
  root.looks(kTimeoutLooks / 2);
  EXPECT_THAT(root.watch.silent_hosts(), SizeIs(2));
  EXPECT_THAT(root.watch.ranks_elsewhere(), IsEmpty());  // what was known is old
  root.watch.say();
  EXPECT_TRUE(root.watch.all_know());  // nobody waits for who is silent
}

TEST(HostWatch, ReportsComeMoreOftenTheLongerNothingGoesOn) {
  Rank root(0);
  const auto looks_until_due = [&](int idle_looks) {
    int looks = 1;
    while (!root.watch.is_due(idle_looks)) ++looks;
    return looks;
  };
  EXPECT_EQ(looks_until_due(0), kTimeoutLooks / 8);
  EXPECT_EQ(looks_until_due(kTimeoutLooks / 2), 4);
  EXPECT_EQ(looks_until_due(kTimeoutLooks), 1);
  HostWatch of_an_hour(machines(), 0, 4 * 3600);
  int looks = 1;
  while (!of_an_hour.is_due(0)) ++looks;
  EXPECT_EQ(looks, 120);
}

TEST(HostWatch, WhatIsNoReportOfThisRunIsNotAnswered) {
  Rank root(0);
  EXPECT_FALSE(root.watch.answer("garbage"));
  EXPECT_FALSE(root.watch.answer(report_line({.node = 0, .ranks = {}})));                // its own host
  EXPECT_FALSE(root.watch.answer(report_line({.node = 3, .ranks = {}})));                // no host
  EXPECT_FALSE(root.watch.answer(report_line({.node = 1, .ranks = {activity(4, 1)}})));  // another's rank
  EXPECT_FALSE(root.watch.answer(report_line({.node = 1, .ranks = {activity(6, 1)}})));  // no rank
  EXPECT_TRUE(root.watch.answer(report_line({.node = 1, .ranks = {activity(2, 1)}})));
}

TEST(HostWatch, OnlyRanksOfThisHostAreReported) {
  Rank one(2);
  one.watch.report({activity(0, 1), activity(2, 1), activity(3, 1)});  // hosts that share /dev/shm
  const auto report = report_from_line(one.question);
  ASSERT_TRUE(report);
  ASSERT_THAT(report->ranks, SizeIs(2));
  EXPECT_EQ(report->ranks[0].rank, 2);
}

RankActivity full_rank(int rank) {
  return {.rank = rank,
          .ranks = std::numeric_limits<int>::max(),
          .host = std::string(63, 'h'),
          .gpu = std::string(64, '\x02'),
          .device = std::string(64, '\x04'),
          .pid = std::numeric_limits<int>::max(),
          .process = ProcessState::stopped,
          .step = std::string(64, '\x03'),
          .steps = std::numeric_limits<std::uint64_t>::max(),
          .pass = std::numeric_limits<int>::max(),
          .calls = {.entered = std::numeric_limits<std::uint64_t>::max(), .left = 3},
          .calls_before_step = 7,
          .exchanges = {.entered = std::numeric_limits<std::uint64_t>::max(), .left = 4},
          .is_over = true,
          .idle_seconds = 1.2345678901234567e-10,
          .resent_to = "10.93.1.2",
          .resent_times = 4,
          .heard = 0};
}

TEST(HostReport, IsReadBackAsItWas) {
  const HostReport report{.node = 3, .ranks = {full_rank(1), full_rank(2)}};
  EXPECT_EQ(report_from_line(report_line(report)), report);
  RankActivity idle = full_rank(5);
  idle.idle_seconds.reset();
  EXPECT_EQ(report_from_line(report_line({.node = 0, .ranks = {idle}}))->ranks.at(0), idle);
}

TEST(HostReport, IsOneLineOfAKnownLength) {
  for (const std::size_t ranks : {0U, 1U, 64U}) {
    HostReport report{.node = std::numeric_limits<int>::max(), .ranks = {}};
    for (std::size_t i = 0; i < ranks; ++i) report.ranks.push_back(full_rank(1'000'000'000));
    const std::string line = report_line(report);
    EXPECT_EQ(line.find('\n'), std::string::npos);
    EXPECT_LE(line.size(), max_report_bytes(ranks));
  }
}

TEST(HostReport, AnythingElseIsNone) {
  const std::string good = report_line({.node = 0, .ranks = {full_rank(1)}});
  for (std::size_t end = 0; end < good.size(); ++end) EXPECT_FALSE(report_from_line(good.substr(0, end)));
  for (const std::string& text :
       {std::string("[]"), std::string("7"), std::string(R"({"node":-1,"ranks":[]})"),
        std::string(R"({"node":0,"ranks":7})"), std::string(R"({"node":0,"ranks":[{}]})"),
        std::string(100'000, '['), std::string("\xff\xfe\0x", 4)}) {
    EXPECT_FALSE(report_from_line(text)) << text.substr(0, 40);
  }
  const auto with = [&](const std::string& what, const std::string& instead) {
    std::string text = good;
    return report_from_line(text.replace(text.find(what), what.size(), instead));
  };
  EXPECT_FALSE(with(R"("stopped")", R"("asleep")"));
  EXPECT_FALSE(with(R"("left":3)", R"("left":-3)"));
  EXPECT_FALSE(with(R"("rank":1)", R"("rank":4294967296)"));
}

TEST(HostReply, IsReadBackAsItWas) {
  for (const bool is_said : {false, true}) {
    const HostReply reply{.changes = std::numeric_limits<std::uint64_t>::max(), .is_said = is_said};
    EXPECT_EQ(reply_from_line(reply_line(reply)), reply);
  }
  for (const char* const text :
       {"", "x", "7", "7 ", "7 saidx", "-1 said", "99999999999999999999 said", "7  said"})
    EXPECT_FALSE(reply_from_line(text)) << text;
}

}  // namespace
}  // namespace collbench::launch::host_watch_test
