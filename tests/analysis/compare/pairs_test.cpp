#include "analysis/compare/comparison.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "analysis/compare/comparison_report.hpp"
#include "tests/analysis/compare/compared_runs.hpp"

namespace collbench::analysis::pairs_test {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

using Launches = std::vector<collbench::Run>;

const CompareOptions kOptions{.launch_allowance = 0, .same_within = 0.02};

/// A launch of three passes beside probes of a round trip in ns.
collbench::Run launch_of(double seconds, double round_trip = 110,
                         const std::string& algorithm = kLibraryChoice) {
  collbench::Run run = run_of_rows({{8, {seconds, seconds, seconds}}});
  Measurement& row = run.rows[0].measurement;
  row.key.algorithm = algorithm;
  row.launch_passes = {3};
  for (int pass = 0; pass < 3; ++pass)  // no two probes are alike: what is, is one probe
    row.pass_probes.push_back({.round_trip_seconds = round_trip * 1e-9 * (1 + 1e-9 * (pass + seconds))});
  return run;
}

TEST(Pairs, LooksAreFixedByTheMaximumOfRounds) {
  EXPECT_THAT(looks_of(20), ElementsAre(6, 8, 11, 15, 20));
  EXPECT_THAT(looks_of(6), ElementsAre(6));
  EXPECT_THAT(looks_of(2), ElementsAre(2));
}

TEST(Pairs, AreComparedByStudentsTOfTheirLogRatios) {
  // Log ratios of -0.02 and -0.04 in turn: mean -0.03, standard error 0.01 * sqrt(6 / 5) / sqrt(6) =
  // 0.0044721.
  Launches a;
  Launches b;
  for (int i = 0; i < 6; ++i) {
    const double level = 1 + i;  // what both launches of a round share does not count
    a.push_back(launch_of(level));
    b.push_back(launch_of(level * std::exp(i % 2 == 0 ? -0.02 : -0.04)));
  }
  const Comparison found = compare_pairs(a, b, 6, kOptions);
  const ComparedRow& row = found.rows.at(0);
  EXPECT_NEAR(row.ratio, std::exp(-0.03), 1e-12);
  // t of 5 degrees of freedom at 97.5 %: 2.5705818.
  EXPECT_NEAR(row.ratio_low, std::exp(-0.03 - 2.5705818 * 0.0044721360), 1e-8);
  EXPECT_NEAR(row.ratio_high, std::exp(-0.03 + 2.5705818 * 0.0044721360), 1e-8);
  EXPECT_EQ(row.change, RowChange::faster);
  EXPECT_TRUE(is_decided(found));
  EXPECT_THAT(
      pair_sentences(found),
      ElementsAre("AllReduce 8 B float sum, out of place: B is 3.0 % faster (1.8 to 4.1 %), 6 pairs"));
  EXPECT_THAT(report_text(found), HasSubstr("B is 3.0 % faster"));
  // Five looks cost: the interval is that of a fifth of the significance, and p five times as large.
  const ComparedRow looked = compare_pairs(a, b, 20, kOptions).rows.at(0);
  EXPECT_NEAR(*looked.p, 5 * *row.p, 1e-9);
  EXPECT_LT(looked.ratio_low, row.ratio_low);
}

TEST(Pairs, AnIntervalOverAFactorOfAThousandSaysNoAmount) {
  Launches a(6, launch_of(1));
  Launches b;
  for (int i = 0; i < 6; ++i) b.push_back(launch_of(std::exp(i % 2 == 0 ? -6 : -14)));
  EXPECT_THAT(
      pair_sentences(compare_pairs(a, b, 6, kOptions)),
      ElementsAre("AllReduce 8 B float sum, out of place: B is faster (the interval is too wide to say by "
                  "how much), 6 pairs"));
}

TEST(Pairs, OfTwoStatesAreLeftOut) {
  Launches a;
  Launches b;
  for (int i = 0; i < 8; ++i) {
    a.push_back(launch_of(1.0 + 0.001 * i));
    b.push_back(i < 2 ? launch_of(3.0, 530 + 0.1 * i) : launch_of(1.0 + 0.0011 * i));
  }
  const ComparedRow row = compare_pairs(a, b, 8, kOptions).rows.at(0);
  EXPECT_EQ(row.base.launches, 6);
  EXPECT_EQ(row.change, RowChange::same);
  for (std::size_t i = 0; i < b.size(); ++i) b[i] = launch_of(3.0, 530 + 0.1 * static_cast<double>(i));
  const Comparison apart = compare_pairs(a, b, 8, kOptions);
  EXPECT_TRUE(apart.rows.at(0).is_other_state);
  EXPECT_FALSE(is_decided(apart));
  EXPECT_THAT(pair_sentences(apart), IsEmpty());
  EXPECT_THAT(report_text(apart), HasSubstr("the commands place the ranks differently"));
}

TEST(Pairs, APassOfWhichNoStateIsKnownIsInNone) {
  Launches a;
  Launches b;
  for (int i = 0; i < 8; ++i) {
    a.push_back(launch_of(1.0 + 0.001 * i));
    b.push_back(i < 2 ? launch_of(3.0, 530 + 0.1 * i) : launch_of(1.0 + 0.0011 * i));
  }
  // Two launches beside other work: slower, and the probe found no time without it.
  for (const std::size_t round : {6U, 7U}) {
    b[round] = launch_of(5.0);
    for (MachineProbe& probe : b[round].rows[0].measurement.pass_probes) probe.round_trip_seconds = 0;
  }
  const Comparison found = compare_pairs(a, b, 8, kOptions);
  EXPECT_EQ(found.rows.at(0).base.launches, 4);
  EXPECT_EQ(found.rows.at(0).change, RowChange::same);
  EXPECT_THAT(found.differences,
              Contains(HasSubstr("110 ns in 50 % of the passes, 530 ns in 25 % of the passes, not known in "
                                 "25 %")));
}

TEST(Pairs, ALaunchWithoutTimeForABlockOfTheRowIsLeftOut) {
  Launches a;
  Launches b;
  for (int i = 0; i < 6; ++i) {
    a.push_back(launch_of(1e-6 * (1 + 0.001 * i)));
    b.push_back(launch_of(2e-6 * (1 + 0.0011 * i)));
  }
  const auto stop = [](collbench::Run& run, std::uint64_t iterations) {
    run.rows[0].measurement.iterations = iterations;
    run.rows[0].measurement.stopped = Stop{.reason = StopReason::out_of_time};
  };
  for (collbench::Run& run : a) stop(run, 100'000);  // not all that it wanted, and blocks all the same
  b[1] = launch_of(20e-6);
  stop(b[1], 1);
  const Comparison found = compare_pairs(a, b, 6, kOptions);
  EXPECT_EQ(found.rows.at(0).base.launches, 5);
  EXPECT_EQ(found.rows.at(0).change, RowChange::slower);
  EXPECT_NEAR(found.rows.at(0).ratio, 2, 0.01);
  EXPECT_NEAR(found.rows.at(0).current.seconds, 2e-6, 0.01e-6) << "times are those of the pairs";
  EXPECT_THAT(found.differences, Contains(HasSubstr("B: 1 of 6 launches had no time left for some rows")));
  for (collbench::Run& run : b) stop(run, 1);
  const Comparison none = compare_pairs(a, b, 6, kOptions);
  EXPECT_EQ(none.rows.at(0).change, RowChange::unclear);
  EXPECT_FALSE(none.rows.at(0).is_other_state) << "nothing was measured in any state";
  EXPECT_EQ(none.rows.at(0).ratio, 0) << "of no pair";
  EXPECT_EQ(none.rows.at(0).base.seconds, 0);
  EXPECT_EQ(none.rows.at(0).current.seconds, 0);
}

TEST(Pairs, TwoAlgorithmsAreTheSameRow) {
  Launches a;
  Launches b;
  for (int i = 0; i < 6; ++i) {
    a.push_back(launch_of(1 + 0.001 * i, 110, "ring"));
    b.push_back(launch_of(2 + 0.001 * i));
    a.back().rows[0].measurement.algorithm_ran = "ring";
    b.back().rows[0].measurement.algorithm_ran = "rabenseifner";
  }
  const Comparison found = compare_pairs(a, b, 6, kOptions);
  ASSERT_EQ(found.rows.size(), 1U);
  EXPECT_EQ(found.rows[0].change, RowChange::slower);
  EXPECT_THAT(found.rows[0].notes, ElementsAre("ring → rabenseifner"));
}

TEST(Pairs, EqualCommandsAreCalledDifferentInFewerThanOneOfTwentySeries) {
  // Of series that end at the first look that decides them, with launches that share half of their noise.
  std::mt19937_64 random(20);
  std::normal_distribution<double> noise(0, 0.03);
  int different = 0;
  constexpr int kSeries = 400;
  for (int series = 0; series < kSeries; ++series) {
    Launches a;
    Launches b;
    for (const int look : looks_of(20)) {
      while (static_cast<int>(a.size()) < look) {
        const double shared = noise(random);
        a.push_back(launch_of(std::exp(shared + noise(random))));
        b.push_back(launch_of(std::exp(shared + noise(random))));
      }
      const Comparison found = compare_pairs(a, b, 20, kOptions);
      if (found.count(RowChange::slower) + found.count(RowChange::faster) > 0) ++different;
      if (is_decided(found)) break;
    }
  }
  EXPECT_LE(different, kSeries / 20);
}

TEST(Pairs, TooFewAreUnclear) {
  const Comparison found =
      compare_pairs({launch_of(1), launch_of(1)}, {launch_of(2), launch_of(2)}, 20, kOptions);
  EXPECT_EQ(found.rows.at(0).change, RowChange::unclear);
  EXPECT_FALSE(found.rows.at(0).p);
}

}  // namespace
}  // namespace collbench::analysis::pairs_test
