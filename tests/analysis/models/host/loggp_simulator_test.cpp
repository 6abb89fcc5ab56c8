#include "analysis/models/host/loggp_simulator.hpp"

#include <gtest/gtest.h>

#include <array>

#include "tests/analysis/models/host/algorithm_fixture.hpp"
#include "tests/analysis/models/host/host_model_fixture.hpp"

namespace collbench::analysis::loggp_simulator_test {
namespace {

constexpr double kSmall = 1000;
constexpr double kLarge = 1e6;  // above the eager limit
constexpr double kIntraSmall = kAlphaIntra + kSmall / kIntraRate;
constexpr double kIntraLarge = kAlphaIntra + kLarge / kIntraRate;
constexpr double kInterLarge = kAlphaInter + kLarge / kInterRate;
constexpr double kTolerance = 1e-12;

LogGpSimulator clock_on(const HostModel& model) { return {model, SentData::standing, 0}; }

TEST(RoundOf, KnowsWhoCrossesAndWhoSharesALink) {
  const HostModel model = model_of(in_node_order(2, 2));  // ranks 0 1 | 2 3
  const Round shift_by_one = shift(model, 1);
  ASSERT_EQ(shift_by_one.hops.size(), 4U);
  EXPECT_FALSE(shift_by_one.hops[0].crosses);
  EXPECT_TRUE(shift_by_one.hops[1].crosses);
  EXPECT_TRUE(shift_by_one.hops[3].crosses);
  EXPECT_EQ(shift_by_one.hops[3].to, 0);
  EXPECT_TRUE(shift_by_one.sharing_a_link.empty());
  EXPECT_EQ(shift(model, 2).sharing_a_link.size(), 4U);  // out of and into both nodes

  const std::array<int, 4> one_message{kNobody, 2, kNobody, kNobody};
  EXPECT_EQ(round_of(model, one_message).hops.size(), 1U);
}

TEST(LogGpSimulator, AMessageTakesAlphaAndItsBytesOverTheRate) {
  const HostModel model = model_of(in_node_order(1, 2));
  LogGpSimulator clock = clock_on(model);
  clock.exchange(shift(model, 1), kSmall);
  EXPECT_NEAR(clock.seconds(), kIntraSmall, kTolerance);
  clock.work(1e-3);
  clock.exchange(shift(model, 1), kLarge, 2e-3);
  EXPECT_NEAR(clock.seconds(), kIntraSmall + 1e-3 + kIntraLarge + 2e-3, kTolerance);
}

TEST(LogGpSimulator, WhatIsExchangedBetweenHostsIsSlowed) {
  const Calibration calibration = two_tier_calibration(2);  // a host carries two flows at once
  HostModel model = model_of(in_node_order(2, 2), calibration);
  model.inter.exchange_factor = 1.5;
  const auto seconds = [&](int distance, double bytes) {
    LogGpSimulator clock = clock_on(model);
    clock.exchange(shift(model, distance), bytes);
    return clock.seconds();
  };
  EXPECT_NEAR(seconds(2, kLarge), kAlphaInter + 1.5 * kLarge / kInterRate, kTolerance);  // 0 ↔ 2, 1 ↔ 3
  EXPECT_NEAR(seconds(1, kLarge), kInterLarge, kTolerance);                              // 1 → 2, 3 → 0
  EXPECT_NEAR(seconds(2, kSmall), kAlphaInter + kSmall / kInterRate, kTolerance);        // eager
  model.host_bytes_per_second = kInterRate;                                              // they share it
  EXPECT_NEAR(seconds(2, kLarge), kAlphaInter + 3 * kLarge / kInterRate, kTolerance);
}

TEST(LogGpSimulator, AnEagerSenderGoesOnAndAWaitingOneDoesNot) {
  const HostModel model = model_of(in_node_order(1, 3));
  const std::array<int, 3> to_1{1, kNobody, kNobody};
  const std::array<int, 3> to_2{2, kNobody, kNobody};
  LogGpSimulator eager = clock_on(model);
  eager.exchange(round_of(model, to_1), kSmall);
  eager.exchange(round_of(model, to_2), kSmall);
  // The second message leaves when the first has left, not when it has arrived.
  EXPECT_NEAR(eager.seconds(), kIntraSmall + kSmall / kIntraRate, kTolerance);

  LogGpSimulator waiting = clock_on(model);
  waiting.exchange(round_of(model, to_1), kLarge);
  waiting.exchange(round_of(model, to_2), kLarge);
  EXPECT_NEAR(waiting.seconds(), 2 * kIntraLarge, kTolerance);
}

TEST(LogGpSimulator, SmallMessagesOfOneRankFollowAfterAGap) {
  Calibration calibration = two_tier_calibration();
  calibration.intra->gap_seconds = 0.4e-6;
  const HostModel model = model_of(in_node_order(1, 3), calibration);
  const std::array<int, 3> from_1{kNobody, 0, kNobody};
  const std::array<int, 3> from_2{kNobody, kNobody, 0};
  LogGpSimulator receiver = clock_on(model);
  receiver.exchange(round_of(model, from_1), kSmall);
  EXPECT_NEAR(receiver.seconds(), kIntraSmall, kTolerance);
  receiver.exchange(round_of(model, from_2), kSmall);
  EXPECT_NEAR(receiver.seconds(), kIntraSmall + 0.4e-6, kTolerance);

  const std::array<int, 3> to_1{1, kNobody, kNobody};
  const std::array<int, 3> to_2{2, kNobody, kNobody};
  LogGpSimulator sender = clock_on(model);
  sender.exchange(round_of(model, to_1), kSmall);
  sender.exchange(round_of(model, to_2), kSmall);
  EXPECT_NEAR(sender.seconds(), kIntraSmall + 0.4e-6, kTolerance);
}

TEST(LogGpSimulator, AReceiverTakesOneMessageAfterTheOther) {
  const HostModel model = model_of(in_node_order(1, 3));
  const std::array<int, 3> from_1{kNobody, 0, kNobody};
  const std::array<int, 3> from_2{kNobody, kNobody, 0};
  LogGpSimulator clock = clock_on(model);
  clock.exchange(round_of(model, from_1), kSmall);
  clock.exchange(round_of(model, from_2), kSmall);
  EXPECT_NEAR(clock.seconds(), kIntraSmall + kSmall / kIntraRate, kTolerance);
}

TEST(LogGpSimulator, AWaitingMessageWaitsForItsReceiver) {
  const HostModel model = model_of(in_node_order(1, 3));
  const std::array<int, 3> from_0_to_1{1, kNobody, kNobody};
  const std::array<int, 3> from_2_to_0{kNobody, kNobody, 0};
  LogGpSimulator clock = clock_on(model);
  clock.exchange(round_of(model, from_0_to_1), kLarge);  // rank 0 is busy, rank 2 is not
  clock.exchange(round_of(model, from_2_to_0), kLarge);
  EXPECT_NEAR(clock.seconds(), 2 * kIntraLarge, kTolerance);
}

TEST(LogGpSimulator, MessagesOutOfOneNodeShareWhatItSends) {
  for (const double flows : {1.0, 2.0, 3.0, 4.0}) {
    const HostModel model = model_of(in_node_order(2, 3), two_tier_calibration(flows));
    LogGpSimulator clock = clock_on(model);
    clock.exchange(shift(model, 3), kLarge);
    EXPECT_NEAR(clock.seconds(), kAlphaInter + kLarge / kInterRate * std::max(1.0, 3 / flows), kTolerance)
        << flows;
  }
}

TEST(LogGpSimulator, MessagesThatDoNotOverlapShareNothing) {
  // Rank 0 starts when rank 1's message has long left the node.
  const HostModel model = model_of(in_node_order(2, 2));
  const std::array<int, 4> late{kNobody, 0, kNobody, kNobody};
  const std::array<int, 4> both{2, 3, kNobody, kNobody};
  LogGpSimulator clock = clock_on(model);
  clock.exchange(round_of(model, late), kSmall, 1);
  clock.exchange(round_of(model, both), kSmall);
  EXPECT_NEAR(clock.seconds(), kIntraSmall + 1 + kAlphaInter + kSmall / kInterRate, kTolerance);
}

TEST(LogGpSimulator, WaitingMessagesOfARingTakeTheSlowestHopEachStep) {
  const HostModel model = model_of(in_node_order(2, 4));
  LogGpSimulator clock = clock_on(model);
  for (int i = 0; i < 20; ++i) clock.exchange(shift(model, 1), kLarge);
  EXPECT_NEAR(clock.seconds(), 20 * kInterLarge, kTolerance);
}

TEST(LogGpSimulator, EagerMessagesOfARingTakeTheHopsAsTheyCome) {
  const HostModel model = model_of(in_node_order(2, 4));
  LogGpSimulator clock = clock_on(model);
  for (int i = 0; i < 8; ++i) clock.exchange(shift(model, 1), 0);
  EXPECT_NEAR(clock.seconds(), 6 * kAlphaIntra + 2 * kAlphaInter, kTolerance);
}

TEST(LogGpSimulator, WorkGoesAtTheRateOfTheOperationsWorkingSet) {
  HostModel model = model_of(in_node_order(1, 2));
  model.copy = TimeCurve({{0, 0}, {100, 100}, {1000, 3000}});
  model.reduce = TimeCurve({{0, 0}, {100, 200}, {1000, 6000}});
  EXPECT_DOUBLE_EQ(LogGpSimulator(model, SentData::standing, 0).copy(50), 50);
  EXPECT_DOUBLE_EQ(LogGpSimulator(model, SentData::standing, 2000).copy(50), 150);
  EXPECT_DOUBLE_EQ(LogGpSimulator(model, SentData::standing, 2000).reduce(50), 300);
}

TEST(LogGpSimulator, ForwardedDataHasItsOwnCurve) {
  HostModel model = model_of(in_node_order(1, 2));
  model.intra.forwarded = TimeCurve::line(kAlphaIntra, 3 / kIntraRate);
  LogGpSimulator clock(model, SentData::forwarded, 0);
  clock.exchange(shift(model, 1), kLarge);
  EXPECT_NEAR(clock.seconds(), kAlphaIntra + 3 * kLarge / kIntraRate, kTolerance);
}

TEST(LogGpSimulator, RepeatingIsFollowingEachRound) {
  // Two tiers, uneven nodes, eager and waiting, with and without work: some settle, some never do.
  for (const auto& identities : {in_node_order(1, 7), in_node_order(3, 4), in_node_order(5, 1)}) {
    const HostModel model = model_of(identities);
    for (const int distance : {1, 3}) {
      for (const double bytes : {kSmall, kLarge}) {
        for (const double work : {0.0, 3e-6}) {
          LogGpSimulator followed = clock_on(model);
          LogGpSimulator repeated = clock_on(model);
          const Round round = shift(model, distance);
          for (int i = 0; i < 200; ++i) followed.exchange(round, bytes, work);
          repeated.repeat(round, bytes, work, 200);
          EXPECT_NEAR(repeated.seconds() / followed.seconds(), 1, 1e-6);
          followed.exchange(shift(model, 2), bytes);
          repeated.exchange(shift(model, 2), bytes);
          EXPECT_NEAR(repeated.seconds() / followed.seconds(), 1, 1e-6) << "what the next round starts from";
        }
      }
    }
  }
}

TEST(BackToBack, CountsWhatEachFurtherOperationAdds) {
  const HostModel model = model_of(in_node_order(1, 2));
  const std::vector<int> there{1, kNobody};
  const Round round = round_of(model, there);
  LogGpSimulator clock(model, SentData::standing, 0);
  // Eager messages in one direction: the first arrives after α, each further one a message's length later.
  EXPECT_SECONDS(seconds_back_to_back(clock, [&] { clock.exchange(round, 1e4); }), 1e4 / kIntraRate);
}

}  // namespace

}  // namespace collbench::analysis::loggp_simulator_test
