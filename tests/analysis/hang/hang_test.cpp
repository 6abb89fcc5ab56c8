#include "analysis/hang/hang.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace collbench::analysis::hang_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// In call 412 of an AllReduce, as the others.
RankActivity in_call(int rank, int ranks = 4) {
  return {.rank = rank,
          .ranks = ranks,
          .host = "node1",
          .gpu = "",
          .pid = 100 + rank,
          .process = ProcessState::running,
          .step = "AllReduce 1 MiB",
          .steps = 9,
          .pass = 7,
          .calls = {.entered = 1412, .left = 1411},
          .calls_before_step = 1000,
          .exchanges = {.entered = 50, .left = 50},
          .is_over = false,
          .idle_seconds = 10.2};
}

std::vector<RankActivity> four() { return {in_call(0), in_call(1), in_call(2), in_call(3)}; }

TEST(Hang, AStoppedRankIsNamedWithItsCallAndWhoWaits) {
  auto ranks = four();
  ranks[2].process = ProcessState::stopped;
  const HangFinding found = find_hang(ranks, 4);
  EXPECT_EQ(found.cause, HangCause::rank_stopped);
  EXPECT_THAT(found.ranks, ElementsAre(2));
  EXPECT_EQ(found.text,
            "rank 2 (node1) is stopped (SIGSTOP or a debugger) inside AllReduce 1 MiB, call 412, pass 7, for "
            "10.2 s; ranks 0, 1, 3 (node1) wait inside AllReduce 1 MiB, call 412, pass 7");
}

TEST(Hang, OneRankIsNamedWithItsGpuAndNic) {
  auto ranks = four();
  for (RankActivity& rank : ranks) rank.device = "GPU3, mlx5_2";
  ranks[2].process = ProcessState::stopped;
  EXPECT_THAT(find_hang(ranks, 4).text,
              testing::StartsWith("rank 2 (node1, GPU3, mlx5_2) is stopped (SIGSTOP or a debugger) inside"));
  EXPECT_THAT(find_hang(ranks, 4).text, HasSubstr("; ranks 0, 1, 3 (node1) wait"));
}

TEST(Hang, AHostThatIsNotHeardOfIsNamedWithTheOneThatDoesNotHearIt) {
  auto ranks = four();
  const HangFinding found = find_hang_with_silence(ranks, "node1", {{"node0", {4, 5, 6}}}, 0);
  EXPECT_EQ(found.cause, HangCause::host_silent);
  EXPECT_THAT(found.ranks, ElementsAre(4, 5, 6));
  EXPECT_EQ(found.text,
            "nothing is heard of ranks 4-6 (node0): hosts node1 and node0 do not reach each other, node0 is "
            "down, or "
            "all ranks there are stopped; ranks 0-3 (node1) wait inside AllReduce 1 MiB, call 412, pass 7");
  EXPECT_THAT(find_hang_with_silence(ranks, "node1", {{"node0", {4}}, {"node2", {5}}}, 0).text,
              HasSubstr("nothing is heard of rank 4 (node0), rank 5 (node2): hosts node1 and node0, node2 do "
                        "not reach each other, node0, node2 are down, or all ranks there are stopped;"));
  EXPECT_EQ(
      find_hang_with_silence(ranks, "node1", {{"node0", {4, 5, 6}}}, 412).text,
      "nothing is heard of ranks 4-6 (node0), why is not known: the port of node1 was crowded by 412 "
      "connections that did not greet; ranks 0-3 (node1) wait inside AllReduce 1 MiB, call 412, pass 7");
  ranks[2].process = ProcessState::stopped;  // this is seen
  EXPECT_EQ(find_hang_with_silence(ranks, "node1", {{"node0", {4}}}, 0).cause, HangCause::rank_stopped);
}

TEST(Hang, OfHostsThatHearEachOtherALinkBetweenThemIsNamed) {
  auto ranks = four();
  for (RankActivity& rank : ranks) rank.host = rank.rank < 2 ? "node0" : "node1";
  const std::string link =
      "a link or a library hangs between hosts node0, node1, which hear each other on the launcher's network";
  EXPECT_THAT(find_hang(ranks, 2, "node0").text, testing::EndsWith("call 412, pass 7): " + link));
  ranks[2].calls = {.entered = 1403, .left = 1402};
  EXPECT_EQ(find_hang(ranks, 2, "node0").text,
            "rank 2 (node1) is 9 calls behind: inside AllReduce 1 MiB, call 403, pass 7; ranks 0 (node0), 1 "
            "(node0), 3 (node1) wait inside AllReduce 1 MiB, call 412, pass 7; " +
                link);
  EXPECT_THAT(find_hang(ranks, 2).text, testing::Not(HasSubstr("launcher's"))) << "by their recorders alone";
  ranks[2].calls = {.entered = 1403, .left = 1403};
  ranks[2].exchanges = {.entered = 51, .left = 50};
  EXPECT_THAT(find_hang(ranks, 2, "node0").text, testing::Not(HasSubstr("a link")))
      << "it waits for something else";
  for (int rank = 4; rank < 8; ++rank) ranks.push_back(in_call(rank, 8));
  for (RankActivity& rank : ranks) {
    rank = in_call(rank.rank, 8);
    rank.host = fmt::format("node{}", rank.rank);
  }
  EXPECT_THAT(find_hang(ranks, 1, "node3").text,
              HasSubstr("hangs between 8 hosts, of which node3 hears the others on the launcher's network"));
}

TEST(Hang, WhatIsNotAcknowledgedIsALinksFaultAndNoRanks) {
  auto ranks = four();
  ranks[2].calls = {.entered = 1411, .left = 1410};  // would be a call behind
  ranks[0].resent_to = "10.0.0.2";
  ranks[0].resent_times = 4;
  const HangFinding found = find_hang(ranks, 4);
  EXPECT_EQ(found.cause, HangCause::link_drops);
  EXPECT_THAT(found.ranks, IsEmpty());
  EXPECT_EQ(found.text,
            "data is retransmitted and never acknowledged: rank 0 (node1) to 10.0.0.2, 4 times in a row: "
            "packets are "
            "dropped on the way, all, many, or those above the MTU of the path (try ping -M do -s 1472 "
            "10.0.0.2; 8972 "
            "with jumbo frames); ranks 0-3 (node1) wait");
  ranks[3].resent_times = 3;
  EXPECT_THAT(find_hang(ranks, 4).text,
              HasSubstr(" in a row, rank 3 (node1) to another host, 3 times in a row: packets"));
  ranks[2].process = ProcessState::stopped;
  EXPECT_EQ(find_hang(ranks, 4).cause, HangCause::rank_stopped);
  ranks[2].process = ProcessState::running;
  ranks[0].resent_times = ranks[3].resent_times = 2;  // as a burst may
  EXPECT_EQ(find_hang(ranks, 4).cause, HangCause::rank_behind);
}

TEST(Hang, AGoneRankComesBeforeAStoppedOne) {
  auto ranks = four();
  ranks[0].process = ProcessState::stopped;
  ranks[3].process = ProcessState::gone;
  const HangFinding found = find_hang(ranks, 4);
  EXPECT_EQ(found.cause, HangCause::rank_gone);
  EXPECT_THAT(found.ranks, ElementsAre(3));
  EXPECT_THAT(found.text, HasSubstr("rank 3 (node1) is gone, last seen inside AllReduce 1 MiB, call 412"));
}

TEST(Hang, WhoEndsOnPurposeIsNotGone) {
  auto ranks = four();
  ranks[3].process = ProcessState::gone;
  ranks[3].is_over = true;
  EXPECT_NE(find_hang(ranks, 4).cause, HangCause::rank_gone);
}

TEST(Hang, WhoDoesSomethingElseWhileTheOthersWaitIsNamed) {
  auto ranks = four();
  ranks[1].calls.left = ranks[1].calls.entered = 1411;
  const HangFinding found = find_hang(ranks, 4);
  EXPECT_EQ(found.cause, HangCause::rank_busy);
  EXPECT_THAT(found.ranks, ElementsAre(1));
  EXPECT_EQ(
      found.text,
      "rank 1 (node1) is in AllReduce 1 MiB, after 411 calls, pass 7, not waiting for any rank, for 10.2 s; "
      "ranks 0, 2, 3 (node1) wait inside AllReduce 1 MiB, call 412, pass 7");
}

TEST(Hang, ASkippedCallLeavesItsRankBehind) {
  auto ranks = four();
  ranks[2].calls = {.entered = 1411, .left = 1411};
  ranks[2].exchanges.entered = 51;  // in the barrier behind the block
  const HangFinding found = find_hang(ranks, 4);
  EXPECT_EQ(found.cause, HangCause::rank_behind);
  EXPECT_THAT(found.ranks, ElementsAre(2));
  EXPECT_THAT(found.text, HasSubstr("rank 2 (node1) is 1 call behind: in AllReduce 1 MiB, after 411 calls, "
                                    "pass 7, waiting for other ranks; ranks 0, 1, 3 (node1) wait inside"));
}

TEST(Hang, WhoIsThroughWithACallInWhichOthersAreIsNotBlamed) {
  auto ranks = four();
  const auto leave = [](RankActivity& rank) {
    rank.calls.left = rank.calls.entered;
    rank.exchanges.entered = 51;  // in the barrier behind the block
  };
  leave(ranks[2]);
  HangFinding found = find_hang(ranks, 4);
  EXPECT_EQ(found.cause, HangCause::rank_ahead);
  EXPECT_THAT(found.ranks, IsEmpty());
  EXPECT_EQ(found.text,
            "rank 2 (node1) is through with a call, ranks 0, 1, 3 (node1) are still inside AllReduce 1 MiB, "
            "call 412, pass 7: a message to them was lost or never sent, one of them hangs there, or a rank "
            "skipped a call");
  leave(ranks[1]);  // as of a Reduce whose root, rank 0, hangs in it
  leave(ranks[3]);
  found = find_hang(ranks, 4);
  EXPECT_THAT(found.ranks, IsEmpty());
  EXPECT_EQ(found.text,
            "ranks 1-3 (node1) are through with a call, rank 0 (node1) is still inside AllReduce 1 MiB, call "
            "412, pass 7: a message to it was lost or never sent, it hangs there, or a rank skipped a call");
}

TEST(Hang, ARunThatGoesOnHasNobodyToBlame) {
  auto ranks = four();
  ranks[1].calls.entered = ranks[1].calls.left = 1411;
  ranks[3].idle_seconds = 0.31;
  const HangFinding found = look_at(ranks, std::nullopt);
  EXPECT_EQ(found.cause, HangCause::goes_on);
  EXPECT_THAT(found.ranks, IsEmpty());
  EXPECT_EQ(found.text, "the run goes on: rank 3 (node1) made progress 310 ms ago");
  ranks[2].process = ProcessState::stopped;
  EXPECT_EQ(look_at(ranks, std::nullopt).cause, HangCause::rank_stopped);
  ranks = four();
  EXPECT_EQ(look_at(ranks, std::nullopt).cause, HangCause::not_seen_here);
}

TEST(Hang, WhatTheRunSaidWhenItEndedIsSaidAgain) {
  auto ranks = four();
  ranks[0].calls.entered = ranks[0].calls.left = 1411;  // who reported has left
  const Incident reported{.kind = IncidentKind::hang,
                          .sentence = "AllReduce 1 MiB: timed out after 10 s: rank 2 (node1) is stopped",
                          .ranks = {{2, "node1"}},
                          .step = "AllReduce 1 MiB",
                          .time = "2026-11-23T12:00:00Z"};
  const HangFinding found = look_at(ranks, reported);
  EXPECT_EQ(found.cause, HangCause::reported_by_run);
  EXPECT_THAT(found.ranks, ElementsAre(2));
  EXPECT_EQ(found.text, "the run said at 2026-11-23T12:00:00Z: " + reported.sentence);
}

TEST(Hang, NobodyIsBlamedWhereAllWaitInTheSameCall) {
  const HangFinding found = find_hang(four(), 4);
  EXPECT_EQ(found.cause, HangCause::not_seen_here);
  EXPECT_THAT(found.ranks, IsEmpty());
  EXPECT_EQ(
      found.text,
      "ranks 0-3 (node1) all wait at the same point (inside AllReduce 1 MiB, call 412, pass 7): a link or "
      "a library hangs");
}

TEST(Hang, OneHostOfSeveralSaysThatTheCauseMayBeElsewhere) {
  const HangFinding found = find_hang({in_call(0), in_call(1)}, 2);
  EXPECT_THAT(found.text, HasSubstr("a link or another host hangs"));
}

TEST(Hang, ARankThatNeverStartedIsNamedWhereAllAreOnThisHost) {
  std::vector<RankActivity> ranks{in_call(0), in_call(1), in_call(3)};
  for (RankActivity& rank : ranks) {
    rank.step = "start of MPI";
    rank.steps = 1;
    rank.pass = 0;
    rank.calls = {};
    rank.calls_before_step = 0;
    rank.exchanges = {.entered = 1, .left = 0};
  }
  const HangFinding found = find_hang(ranks, 4);
  EXPECT_EQ(found.cause, HangCause::rank_missing);
  EXPECT_THAT(found.ranks, ElementsAre(2));
  EXPECT_EQ(found.text,
            "rank 2 (node1) never started; ranks 0, 1, 3 (node1) wait: in start of MPI, waiting for "
            "other ranks");
  for (RankActivity& rank : ranks) rank.ranks = 8;  // which four of them this host has is not known
  EXPECT_THAT(find_hang(ranks, 4).ranks, IsEmpty());
  EXPECT_THAT(find_hang(ranks, 4).text, HasSubstr("3 of the 4 ranks of node1 started"));
}

TEST(Hang, ARankThatEndedIsNotOneThatNeverStarted) {
  EXPECT_THAT(find_hang({in_call(0), in_call(1), in_call(3)}, 4).text,
              HasSubstr("1 of the 4 ranks of node1 ended"));
}

TEST(Hang, OfARunThatIsOverWhoWasNotAskedToEndIsNamed) {
  auto ranks = four();
  for (RankActivity& rank : ranks) {
    rank.process = ProcessState::gone;
    rank.is_over = rank.rank != 1;
  }
  const HangFinding found = find_hang(ranks, 0);
  EXPECT_THAT(found.ranks, ElementsAre(1));
  EXPECT_THAT(found.text, HasSubstr("the run is over: rank 1 (node1) ended without being asked to, inside"));
  ranks[1].is_over = true;
  EXPECT_EQ(find_hang(ranks, 0).text, "the run is over: these are the ranks' last states");
}

TEST(Hang, NoRankIsNothingKnown) { EXPECT_EQ(find_hang({}, 4).cause, HangCause::not_known); }

TEST(Hang, RanksOfSeveralHostsAreNamedOneByOne) {
  auto ranks = four();
  ranks[1].host = "node2";
  EXPECT_EQ(rank_names(ranks), "ranks 0 (node1), 1 (node2), 2 (node1), 3 (node1)");
  EXPECT_EQ(rank_names({ranks[0], ranks[2], ranks[3]}), "ranks 0, 2, 3 (node1)");
}

TEST(Hang, TextAndJsonHaveEveryRankAndNothingThatDrivesATerminal) {
  auto ranks = four();
  ranks[1].host = "node1\x1b[31m";
  const HangFinding found = find_hang(ranks, 4);
  const std::string text = flight_text(ranks, found, 80);
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  EXPECT_THAT(text,
              HasSubstr("rank 3 (node1, process 103, running): inside AllReduce 1 MiB, call 412, pass 7"));
  const Json json = Json::parse(flight_json(ranks, found));
  EXPECT_EQ(json["ranks"].size(), 4U);
  EXPECT_EQ(json["ranks"][2]["calls"]["entered"], 1412);
  EXPECT_EQ(json["cause"], "not seen here");
}

}  // namespace
}  // namespace collbench::analysis::hang_test
