#include "analysis/states/machine_states.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace collbench::analysis::machine_states_test {
namespace {

using ::testing::IsEmpty;

constexpr double kFast = 110e-9;  // round trips, seconds
constexpr double kSlow = 530e-9;
constexpr double kScatter = 1e-13;

/// Adds a pass to a row, of the last launch or of a new one.
void add_pass(Row& row, double seconds, double round_trip, bool new_launch = false) {
  Measurement& measured = row.measurement;
  if (new_launch || measured.launch_passes.empty()) measured.launch_passes.push_back(0);
  ++measured.launch_passes.back();
  measured.pass_seconds.push_back(seconds);
  // No two probes are alike: what is, is one probe.
  const double scatter = 1 + 1e-9 * static_cast<double>(measured.pass_seconds.size());
  measured.pass_probes.push_back({.round_trip_seconds = round_trip * scatter});
}

/// A run whose first row took `fast` in seven passes and `slow` in the five after them.
collbench::Run two_states(double fast, double slow, double slow_round_trip = kSlow) {
  collbench::Run run;
  run.rows.resize(1);
  for (int i = 0; i < 12; ++i)
    add_pass(run.rows[0], (i < 7 ? fast : slow) * (1 + 0.001 * i), i < 7 ? kFast : slow_round_trip);
  run.rows[0].measurement.seconds = 99;
  return run;
}

TEST(MachineStates, TheRowIsThatOfTheCommonestStateAndTheOthersStandBehindIt) {
  collbench::Run run = two_states(1, 3);
  tell_states(run);
  const Measurement& row = run.rows[0].measurement;
  ASSERT_EQ(row.states.size(), 2U);
  EXPECT_DOUBLE_EQ(row.seconds, 1.003);
  ASSERT_TRUE(row.interval);
  EXPECT_DOUBLE_EQ(row.interval->low_seconds, 1.0);
  EXPECT_DOUBLE_EQ(row.interval->high_seconds, 1.006);
  EXPECT_FALSE(row.interval->over_launches);
  EXPECT_EQ(row.states[0].passes, 7);
  EXPECT_EQ(row.states[1].passes, 5);
  EXPECT_DOUBLE_EQ(row.states[1].seconds, 3 * 1.009);
  EXPECT_FALSE(row.states[1].interval) << "five passes are too few";
  EXPECT_NEAR(row.states[1].min_round_trip_seconds, kSlow, kScatter);
  const std::vector<StateShare> shares = state_shares(run);
  ASSERT_EQ(shares.size(), 2U);
  EXPECT_DOUBLE_EQ(shares[0].passes, 7.0 / 12);
  EXPECT_NEAR(shares[1].max_round_trip_seconds, kSlow, kScatter);
  tell_states(run);
  EXPECT_EQ(run.rows[0].measurement.states.size(), 2U) << "divided twice it is the same";
}

TEST(MachineStates, OneProbeOfManyPassesIsNoGroupOfProbes) {
  collbench::Run run = two_states(1, 3);
  for (std::size_t i = 7; i < 12; ++i) run.rows[0].measurement.pass_probes[i].round_trip_seconds = kSlow;
  tell_states(run);
  EXPECT_THAT(run.rows[0].measurement.states, IsEmpty());
}

TEST(MachineStates, APassWhoseProbeIsNotKnownIsInNone) {
  collbench::Run run = two_states(1, 3);
  run.rows[0].measurement.pass_probes[0].round_trip_seconds = 0;
  tell_states(run);
  ASSERT_EQ(run.rows[0].measurement.states.size(), 2U);
  EXPECT_EQ(run.rows[0].measurement.states[0].passes, 6);
  const std::vector<StateShare> shares = state_shares(run);
  EXPECT_DOUBLE_EQ(shares[0].passes, 6.0 / 12) << "of all passes, also of those that are in none";
  EXPECT_FALSE(are_all_passes(shares[0].passes + shares[1].passes));
}

TEST(MachineStates, ProbesThatNoTimeFollowsAndTimesThatNoProbeFollowsAreOneState) {
  for (collbench::Run run : {two_states(1, 1.05), two_states(1, 3, 1.15 * kFast)}) {
    tell_states(run);
    EXPECT_THAT(run.rows[0].measurement.states, IsEmpty());
    EXPECT_DOUBLE_EQ(run.rows[0].measurement.seconds, 99) << "as it was";
    EXPECT_THAT(state_shares(run), IsEmpty());
  }
}

TEST(MachineStates, OneRowInFourHasToFollow) {
  for (const std::size_t others : {3U, 4U}) {
    collbench::Run run = two_states(1, 3);
    for (std::size_t i = 0; i < others; ++i) run.rows.push_back(two_states(1, 1).rows[0]);
    tell_states(run);
    EXPECT_EQ(run.rows[0].measurement.states.empty(), others > 3) << others;
  }
}

TEST(MachineStates, ARowWithoutPassesInTheCommonestStateIsThatOfAnother) {
  collbench::Run run = two_states(1, 3);
  Row late;
  for (int i = 0; i < 4; ++i) add_pass(late, 7, kSlow);
  run.rows.push_back(late);
  for (int i = 0; i < 8; ++i) add_pass(run.rows[0], 1, kFast);
  tell_states(run);
  EXPECT_EQ(run.rows[0].measurement.states[0].passes, 15);
  ASSERT_EQ(run.rows[1].measurement.states.size(), 1U);
  EXPECT_DOUBLE_EQ(run.rows[1].measurement.seconds, 7);
  EXPECT_NEAR(run.rows[1].measurement.states[0].min_round_trip_seconds, kSlow, kScatter);
}

TEST(MachineStates, OverLaunchesEachCountsForTheStateOfMostOfItsPasses) {
  collbench::Run run;
  run.repeated = true;
  run.rows.resize(1);
  for (int launch = 0; launch < 10; ++launch) {
    const bool slow = launch >= 7;
    for (int pass = 0; pass < 3; ++pass) {
      const bool other = launch == 0 && pass == 0;  // the state changed within the first launch
      add_pass(run.rows[0], slow || other ? 3 : 1 + 0.01 * launch, slow || other ? kSlow : kFast, pass == 0);
    }
  }
  tell_states(run);
  const Measurement& row = run.rows[0].measurement;
  ASSERT_EQ(row.states.size(), 2U);
  EXPECT_EQ(row.states[0].launches, 7);
  EXPECT_EQ(row.states[0].passes, 20);
  EXPECT_EQ(row.states[1].launches, 3);
  EXPECT_DOUBLE_EQ(row.seconds, 1.03) << "the median of seven launches";
  ASSERT_TRUE(row.interval);
  EXPECT_TRUE(row.interval->over_launches);
  EXPECT_DOUBLE_EQ(row.interval->low_seconds, 1.0);
  EXPECT_DOUBLE_EQ(row.interval->high_seconds, 1.06);
  ASSERT_TRUE(row.launch_variation);
  EXPECT_LT(row.launch_variation->between, 0.03) << "of launches in this state";
  // Damaged counts lead nowhere else.
  run.rows[0].measurement.launch_passes = {-1, 31};
  tell_states(run);
  EXPECT_EQ(run.rows[0].measurement.states[0].launches, 0);
}

/// One state, whatever its noise: launches that differ in probe and time, each by itself, and passes that
/// were disturbed.
TEST(MachineStates, AMachineWithOneStateNeverHasTwo) {
  std::mt19937_64 random(20);
  int divided = 0;
  for (int machine = 0; machine < 1000; ++machine) {
    std::normal_distribution<double> of_launch(0, 0.04 * (machine % 3));  // log; to 8 % between launches
    std::normal_distribution<double> of_probe(0, 0.03);
    std::normal_distribution<double> of_pass(0, 0.05);
    collbench::Run run;
    run.repeated = machine % 2 == 0;
    run.rows.resize(static_cast<std::size_t>(1 + machine % 6));
    for (int launch = 0; launch < (run.repeated ? 6 + machine % 20 : 1); ++launch) {
      const double time = std::exp(of_launch(random));
      const double round_trip = kFast * std::exp(of_launch(random));
      for (int pass = 0; pass < 8; ++pass) {
        for (Row& row : run.rows) {
          const double disturbed = random() % 20 == 0 ? 2 : 1;
          add_pass(row, time * disturbed * std::exp(of_pass(random)), round_trip * std::exp(of_probe(random)),
                   pass == 0);
        }
      }
    }
    tell_states(run);
    if (!state_shares(run).empty()) ++divided;
  }
  EXPECT_EQ(divided, 0);
}

TEST(MachineStates, TwoStatesAreNotMixedUp) {
  std::mt19937_64 random(21);
  std::normal_distribution<double> noise(0, 0.06);
  for (int machine = 0; machine < 200; ++machine) {
    collbench::Run run;
    run.rows.resize(2);
    int slow_passes = 0;
    for (int pass = 0; pass < 40; ++pass) {
      const bool slow = pass % 40 >= 10 + machine % 20;
      slow_passes += slow ? 1 : 0;
      for (Row& row : run.rows)
        add_pass(row, (slow ? 1.5 : 1) * std::exp(noise(random)),
                 (slow ? kSlow : kFast) * std::exp(noise(random)));
    }
    tell_states(run);
    ASSERT_EQ(run.rows[0].measurement.states.size(), 2U) << machine;
    const int first = run.rows[0].measurement.states[0].passes;
    EXPECT_EQ(first, std::max(slow_passes, 40 - slow_passes));
  }
}

TEST(MachineStates, WithoutProbesThereAreNone) {
  collbench::Run run = two_states(1, 3);
  run.rows[0].measurement.pass_probes.clear();
  tell_states(run);
  EXPECT_THAT(run.rows[0].measurement.states, IsEmpty());
  RowPasses row;
  add_passes(row, run.rows[0].measurement);
  EXPECT_THAT(row.seconds, IsEmpty());
}

}  // namespace
}  // namespace collbench::analysis::machine_states_test
