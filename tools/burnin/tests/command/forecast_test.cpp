#include "tools/burnin/command/forecast.hpp"

#include <gtest/gtest.h>

namespace collbench::program {
namespace {

using analysis::BurninPhase;

std::vector<PhasePlan> two_phases() {
  return {{.phase = BurninPhase::nodes, .seconds = 6, .rounds = 2, .launches = 8},
          {.phase = BurninPhase::pairs, .seconds = 30, .rounds = 10, .launches = 40},
          {.phase = BurninPhase::whole, .seconds = 3, .rounds = 1, .launches = 1, .doubles_on_gpus = true}};
}

TEST(Forecast, WhatIsLeftCountsEachRoundsStart) {
  Forecast forecast(two_phases());
  forecast.begin(BurninPhase::nodes);
  EXPECT_FALSE(forecast.knows_start());
  EXPECT_DOUBLE_EQ(forecast.seconds_left(), 39);
  EXPECT_EQ(forecast.where(), "phase nodes, round 1 of 2");
  forecast.add_round(4);
  EXPECT_DOUBLE_EQ(forecast.seconds_left(), 36 + 12 * 4);
  forecast.add_round(2);  // 3 s on average
  forecast.begin(BurninPhase::pairs);
  EXPECT_DOUBLE_EQ(forecast.seconds_left(), 33 + 11 * 3);
  EXPECT_EQ(forecast.where(), "phase pairs, round 1 of 10");
}

TEST(Forecast, ARoundWithoutAResultSaysNothingOfTheStart) {
  Forecast forecast(two_phases());
  forecast.begin(BurninPhase::nodes);
  forecast.add_round(-1);
  EXPECT_FALSE(forecast.knows_start());
  EXPECT_DOUBLE_EQ(forecast.seconds_left(), 36);
}

TEST(Forecast, EachPhaseThatIsOpenEndsWithALookAtTheCounters) {
  Forecast forecast(two_phases());
  forecast.begin(BurninPhase::pairs);
  forecast.add_look(5);
  EXPECT_DOUBLE_EQ(forecast.seconds_left(), 33 + 2 * 5);
}

TEST(Forecast, OnGpusWhatForcesRingAndTreeTakesTwiceAsLongOnce) {
  Forecast forecast(two_phases());
  forecast.on_gpus();
  forecast.on_gpus();
  EXPECT_DOUBLE_EQ(forecast.seconds_left(), 39 + 3);
}

TEST(Forecast, MoreRoundsThanPlannedAreRetests) {
  Forecast forecast(two_phases());
  forecast.begin(BurninPhase::whole);
  for (int round = 0; round < 3; ++round) forecast.add_round(1);
  EXPECT_EQ(forecast.where(), "phase whole, retest 3");
  EXPECT_DOUBLE_EQ(forecast.seconds_left(), 0);
  forecast.end();
  EXPECT_EQ(forecast.where(), "retests");
}

}  // namespace
}  // namespace collbench::program
