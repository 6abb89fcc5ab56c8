#include "analysis/report/launch_facts.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "tests/analysis/example_run.hpp"

namespace collbench::analysis::launch_facts_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::vector<std::string> texts(const collbench::Run& run) {
  std::vector<std::string> result;
  for (const ReportFact& fact : launch_facts(run)) result.push_back(fact.text);
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
                          "deviations, the median row's; at most 6.0 % and 4.0 %)"));
}

TEST(LaunchFacts, AResumedRunNamesTheRowsOfSeveralLaunches) {
  auto run = example_run();
  run.rows[1].measurement.launch_passes = {5, 3};
  EXPECT_THAT(texts(run),
              ElementsAre("resumed: the passes and the interval of AllReduce 64 MiB float sum, in "
                          "place are of several launches"));
  for (Row& row : run.rows) row.measurement.launch_passes = {5, 3};
  EXPECT_THAT(texts(run), ElementsAre(HasSubstr(" and 2 more rows are of several launches")));
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
      ElementsAre(
          "warning: the machine drifted: launches that follow each other are alike in AllReduce 64 MiB "
          "float sum, in place, so the interval holds for these minutes only; repeat --every SECONDS "
          "spreads the launches"));
  EXPECT_EQ(launch_facts(repetition(20, 1)).front().tone, Tone::warning);
  EXPECT_THAT(texts(repetition(20, 99)), IsEmpty()) << "no row drifts";
  EXPECT_THAT(texts(repetition(7, 1)), IsEmpty()) << "too few to tell";
}

TEST(LaunchFacts, ARecordWhosePassesDoNotAddUpIsNotLookedInto) {
  auto run = repetition(20, 1);
  run.rows[1].measurement.launch_passes.assign(20, 1'000'000);
  EXPECT_THAT(texts(run), IsEmpty());
}

}  // namespace
}  // namespace collbench::analysis::launch_facts_test
