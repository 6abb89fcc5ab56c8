#include "analysis/report/launches.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "base/record/run.hpp"
#include "tests/analysis/example_run.hpp"

namespace collbench::analysis::launches_test {

namespace {

using ::testing::ElementsAre;

using Launches = std::vector<Run>;

/// A launch of two rows: the first took `passes`, the second did not run.
Run launch(const std::vector<double>& passes, double expected = 1) {
  Run run;
  run.ranks.resize(2);
  run.rows.resize(2);
  run.wall_seconds = 10;
  run.passes = static_cast<int>(passes.size());
  Measurement& row = run.rows[0].measurement;
  row.pass_seconds = passes;
  row.seconds = passes[passes.size() / 2];
  row.iterations = 100;
  row.samples = 50;
  row.minimum = passes.front();
  row.p99 = passes.back();
  row.ranks = {{0, passes.front(), passes.back()}, {1, passes.front(), passes.back()}};
  row.wrong_elements = 0;
  run.rows[0].expectation.expected_seconds = expected;
  run.rows[1].measurement.unavailable = "not here";
  return run;
}

TEST(MergedLaunches, TheTimeIsTheMedianOverLaunchesAndTheIntervalIsOverThem) {
  Launches launches;
  for (const double middle : {3.0, 1.0, 2.0, 6.0, 4.0, 5.0}) {
    launches.push_back(launch({middle - 0.5, middle, middle + 0.5}, middle));
  }
  const auto run = merged_launches(launches);
  const Measurement& row = run.rows[0].measurement;
  EXPECT_DOUBLE_EQ(row.seconds, 3.5);
  ASSERT_TRUE(row.interval);
  EXPECT_TRUE(row.interval->over_launches);
  EXPECT_DOUBLE_EQ(row.interval->low_seconds, 1);
  EXPECT_DOUBLE_EQ(row.interval->high_seconds, 6);
  EXPECT_THAT(row.launch_passes, ElementsAre(3, 3, 3, 3, 3, 3));
  EXPECT_EQ(row.pass_seconds.size(), 18U);
  EXPECT_EQ(row.iterations, 600U);
  EXPECT_DOUBLE_EQ(row.minimum, 3.0);
  EXPECT_DOUBLE_EQ(row.p99, 4.0);
  EXPECT_DOUBLE_EQ(row.ranks.at(1).median_seconds, 3.0);
  EXPECT_DOUBLE_EQ(*run.rows[0].expectation.expected_seconds, 3.5);
  EXPECT_EQ(run.launches, 6);
  EXPECT_TRUE(run.repeated);
  EXPECT_DOUBLE_EQ(run.wall_seconds, 60);
  EXPECT_EQ(run.rows[1].measurement.unavailable, "not here");
}

TEST(MergedLaunches, BothPartsOfTheVarianceAreFractionsOfTheTime) {
  // Passes differ by 0.1 around launches that differ by 2: the parts are 0.1 and close to 2, over 10.
  const auto run =
      merged_launches({launch({7.9, 8.0, 8.1}), launch({9.9, 10.0, 10.1}), launch({11.9, 12.0, 12.1})});
  ASSERT_TRUE(run.rows[0].measurement.launch_variation);
  EXPECT_NEAR(run.rows[0].measurement.launch_variation->within, 0.01, 1e-12);
  EXPECT_NEAR(run.rows[0].measurement.launch_variation->between, std::sqrt(4 - 0.01 / 3) / 10, 1e-12);
  EXPECT_FALSE(merged_launches({launch({1, 2, 3})}).rows[0].measurement.launch_variation);
}

TEST(MergedLaunches, PageFaultsAndWhatOneTakesAreMediansOverTheLaunchesThatKnow) {
  Launches launches;
  for (const double seconds : {1e-6, 5e-6, 2e-6, 4e-6}) {
    launches.push_back(launch({1, 2, 3}));
    launches.back().calibration = Calibration{};
    launches.back().calibration->intra = Tier{};
    launches.back().calibration->points = {
        {CalibrationKind::copy, 64, 1, std::nullopt, std::nullopt},
        {CalibrationKind::page_fault, 4096, seconds, std::nullopt, std::nullopt}};
    launches.back().rows[0].measurement.ranks[1].page_faults = seconds * 1e9;
  }
  launches[3].calibration.reset();
  launches[3].rows[0].measurement.ranks[1].page_faults.reset();
  const auto run = merged_launches(launches);
  EXPECT_EQ(run.calibration->points[0].seconds, 1);
  EXPECT_DOUBLE_EQ(run.calibration->points[1].seconds, 2e-6);
  EXPECT_EQ(run.rows[0].measurement.ranks[0].page_faults, std::nullopt);
  EXPECT_DOUBLE_EQ(run.rows[0].measurement.ranks[1].page_faults.value(), 2000);
}

TEST(MergedLaunches, WhatAnyLaunchFoundWrongCounts) {
  Launches launches{launch({1, 2, 3}), launch({1, 2, 3})};
  launches[1].rows[0].measurement.wrong_elements = 5;
  launches[1].rows[0].measurement.wrong = {
      {.rank = 1, .host = "b", .count = 5, .first_index = 0, .expected = "1", .got = "2"}};
  const auto run = merged_launches(launches);
  EXPECT_EQ(run.rows[0].measurement.wrong_elements, 5U);
  EXPECT_EQ(run.rows[0].measurement.wrong.size(), 1U);
}

TEST(MergedLaunches, EachKindOfLoadIsNotedOnceWithHowManyLaunchesHadIt) {
  Launches launches{launch({1, 2, 3}), launch({1, 2, 3}), launch({1, 2, 3})};
  launches[0].load_notes = {"n1: withheld 3 %"};
  launches[2].network_notes = {"rank 1 (n1) retransmitted 2 %"};
  EXPECT_THAT(merged_launches(launches).network_notes,
              ElementsAre("rank 1 (n1) retransmitted 2 % (in 1 of 3 launches)"));
  launches[1].load_notes = {"n1: others 0.4 of 2", "n1: withheld 12 %"};
  launches[2].load_notes = {"n1: others 1.5 of 2", "n2: others 0.5 of 2"};
  EXPECT_THAT(merged_launches(launches).load_notes,
              ElementsAre("n1: withheld 3 % (in 2 of 3 launches)", "n1: others 0.4 of 2 (in 2 of 3 launches)",
                          "n2: others 0.5 of 2 (in 1 of 3 launches)"));
  EXPECT_TRUE(merged_launches({launch({1, 2, 3})}).load_notes.empty());
}

TEST(WidestInterval, IsInfiniteWhileARowHasNone) {
  Launches launches(5, launch({1, 2, 3}));
  EXPECT_TRUE(std::isinf(widest_interval(merged_launches(launches))->relative_half_width));
  launches.push_back(launch({1, 4, 5}));
  const auto widest = widest_interval(merged_launches(launches));
  EXPECT_DOUBLE_EQ(widest->relative_half_width, 0.5);  // from 2 to 4, around 2
  EXPECT_EQ(widest->row, 0U);
  auto nothing = launch({1, 2, 3});
  nothing.rows[0].measurement = {};
  EXPECT_FALSE(widest_interval(nothing));
}

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::vector<std::string> texts(const collbench::Run& run) {
  std::vector<std::string> result;
  for (const ReportLine& fact : launch_lines(run)) result.push_back(fact.text);
  return result;
}

TEST(LaunchFacts, ARunOfOneLaunchHasNone) { EXPECT_THAT(texts(example_run()), IsEmpty()); }

TEST(LaunchFacts, ARepetitionSaysHowTimesVary) {
  auto run = example_run();
  run.repeated = true;
  run.rows[0].measurement.launch_variation = {.within = 0.02, .between = 0.06};
  run.rows[1].measurement.launch_variation = {.within = 0.04, .between = 0.01};
  run.rows[2].measurement.launch_variation = {.within = 0.03, .between = 0.05};
  EXPECT_THAT(texts(run),
              ElementsAre("times vary by 5.0 % between launches and by 3.0 % between passes of one (standard "
                          "deviations of the median row; at most 6.0 % and 4.0 %)"));
}

TEST(LaunchFacts, AResumedRunNamesTheRowsOfSeveralLaunches) {
  auto run = example_run();
  run.rows[1].measurement.launch_passes = {5, 3};
  EXPECT_THAT(texts(run),
              ElementsAre("resumed: the passes and the interval of AllReduce 64 MiB float sum, in "
                          "place span several launches"));
  for (Row& row : run.rows) row.measurement.launch_passes = {5, 3};
  EXPECT_THAT(texts(run), ElementsAre(HasSubstr(" and 2 more rows span several launches")));
}

/// Rows of launches with two passes each; the launches of row `drifts` go up, the others' are in random
/// order.
collbench::Run repetition(std::size_t launches, std::size_t drifts) {
  std::mt19937 generator(3);
  std::uniform_real_distribution<double> noise(1e-6, 2e-6);
  auto run = example_run();
  run.repeated = true;
  for (std::size_t row = 0; row < run.rows.size(); ++row) {
    Measurement& measured = run.rows[row].measurement;
    measured.pass_seconds.clear();
    measured.launch_passes.assign(launches, 2);
    for (std::size_t launch = 0; launch < launches; ++launch) {
      const double seconds = row == drifts ? 1e-6 * static_cast<double>(launch + 1) : noise(generator);
      // The passes say nothing in themselves: only their launches' medians do.
      measured.pass_seconds.push_back(0.5 * seconds);
      measured.pass_seconds.push_back(1.5 * seconds);
    }
  }
  return run;
}

TEST(LaunchFacts, ADriftUnderTheLaunchesIsAWarning) {
  EXPECT_THAT(
      texts(repetition(20, 1)),
      ElementsAre("warning: the machine drifted: consecutive launches are correlated in AllReduce 64 MiB "
                  "float sum, in place, so the interval holds only for the time measured; repeat --every "
                  "SECONDS spaces the launches out"));
  EXPECT_EQ(launch_lines(repetition(20, 1)).front().tone, Tone::warning);
  EXPECT_THAT(texts(repetition(20, 99)), IsEmpty()) << "no row drifts";
  EXPECT_THAT(texts(repetition(7, 1)), IsEmpty()) << "too few to tell";
}

TEST(LaunchFacts, ARecordWhosePassesDoNotAddUpIsNotLookedInto) {
  auto run = repetition(20, 1);
  run.rows[1].measurement.launch_passes.assign(20, 1'000'000);
  EXPECT_THAT(texts(run), IsEmpty());
}

TEST(MergedLaunches, ALaunchWithoutTimeForARowIsNotOfIt) {
  Launches launches(7, launch({1e-6, 1e-6, 1e-6}));
  for (auto& each : launches) {
    each.rows[0].measurement.iterations = 100'000;
    each.rows[0].measurement.stopped = Stop{.reason = StopReason::out_of_time};
  }
  Measurement& cold = launches[2].rows[0].measurement;
  cold.pass_seconds = {6e-6};
  cold.seconds = 6e-6;
  cold.iterations = 1;
  cold.wrong_elements = 5;
  const auto run = merged_launches(launches);
  EXPECT_EQ(run.rows[0].measurement.launch_passes, std::vector<int>(6, 3));
  EXPECT_EQ(run.rows[0].measurement.wrong_elements, 5U) << "its data was checked all the same";
  const ReportLines lines = launch_lines(run);
  EXPECT_TRUE(std::any_of(lines.begin(), lines.end(), [](const auto& line) {
    return line.text.starts_with("warning: 1 of 7 launches had no time left for some rows");
  }));
}

TEST(LaunchLines, AMachineOfTwoStatesSaysWhichItWasInForHowLong) {
  Launches launches;
  for (int i = 0; i < 10; ++i) {
    const double middle = i < 7 ? 1.0 + 0.001 * i : 3.0;
    Measurement& row = launches.emplace_back(launch({middle, middle, middle})).rows[0].measurement;
    for (int pass = 0; pass < 3; ++pass)  // no two probes are alike: what is, is one probe
      row.pass_probes.push_back(
          {.round_trip_seconds = (i < 7 ? 110e-9 : 530e-9) * (1 + 1e-9 * (3 * i + pass))});
  }
  const auto run = merged_launches(launches);
  EXPECT_DOUBLE_EQ(run.rows[0].measurement.seconds, 1.003);
  const ReportLines lines = launch_lines(run);
  ASSERT_GE(lines.size(), 2U);
  EXPECT_EQ(lines[0].text,
            "warning: the machine was in 2 states, told apart by the round trip of a cache line between "
            "neighboring "
            "ranks: 110 ns in 70 % of the passes (about 1 min 10 s, most of 7 launches); 530 "
            "ns in 30 % of "
            "the passes (about 30 s, most of 3 launches). Times and intervals of the tables are those of the "
            "first");
  EXPECT_EQ(lines[1].text, "at 530 ns, times as long as in the first state: AllReduce: 0 B 2.99 (3 s)");
  for (MachineProbe& probe : launches[9].rows[0].measurement.pass_probes) probe.round_trip_seconds = 0;
  EXPECT_THAT(launch_lines(merged_launches(launches))[0].text,
              HasSubstr("20 % of the passes (about 20 s, most of 2 launches); not known in 10 %. Times"));
}

TEST(LaunchLines, ACalibrationInAnotherStateIsSaid) {
  Launches launches;
  for (int i = 0; i < 2; ++i) {
    collbench::Run& run = launches.emplace_back(launch({1, 1, 1}));
    run.rows[0].measurement.pass_probes = {{540e-9, 0, 0, 0}, {541e-9, 0, 0, 0}, {545e-9, 0, 0, 0}};
    run.calibration = Calibration{};
    run.calibration->probes = {{115e-9, 0, 0, 0}, {114e-9, 0, 0, 0}, {541e-9, 0, 0, 0}};
  }
  collbench::Run run = merged_launches(launches);
  EXPECT_EQ(launch_lines(run)[0].text,
            "warning: calibrated while the round trip of a cache line took 115 ns, and the passes ran at 541 "
            "ns: expectations are of another state of the machine than the times, so meas/exp is off; run "
            "again, or with --calibration and the record of a run that was calibrated in this state");
  EXPECT_EQ(run.calibration->probes.size(), 6U)
      << "of all calibrations, for expectations are medians over them";
  const auto is_said = [&] { return launch_lines(run)[0].text.starts_with("warning: calibrated"); };
  for (MachineProbe& probe : run.calibration->probes) probe.round_trip_seconds = 380e-9;
  EXPECT_FALSE(is_said()) << "less than a half apart";
  run.calibration->probes.resize(4);
  for (MachineProbe& probe : run.calibration->probes) probe.round_trip_seconds = 115e-9;
  EXPECT_FALSE(is_said()) << "four probes are too few";
}

TEST(LaunchLines, AMachineOfOneStateSaysSo) {
  Launches launches;
  for (int i = 0; i < 4; ++i) {
    launches.emplace_back(launch({1, 1, 1})).rows[0].measurement.pass_probes = {
        {108e-9, 0, 0, 0}, {110e-9, 0, 0, 0}, {118e-9, 0, 0, 0}};
  }
  EXPECT_EQ(launch_lines(merged_launches(launches))[0].text,
            "the machine was in one state: the round trip of a cache line between neighboring ranks took 110 "
            "ns (108 ns to "
            "118 ns for the middle 80 % of the passes)");
  launches[0].rows[0].measurement.pass_probes.clear();
  EXPECT_TRUE(merged_launches(launches).rows[0].measurement.pass_probes.empty()) << "of some launches only";
}

}  // namespace

}  // namespace collbench::analysis::launches_test
