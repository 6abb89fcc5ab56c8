#include "analysis/compare/comparison.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "analysis/compare/comparison_report.hpp"
#include "base/error.hpp"
#include "tests/analysis/compare/compared_runs.hpp"

namespace collbench::analysis {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Comparison compare_two_runs(const collbench::Run& base, const Run& current, double allowance = 0.1) {
  return compare({base}, {current}, {.launch_allowance = allowance});
}

TEST(Comparison, OfLaunchesIsStudentsTOfTheirLogTimes) {
  const collbench::Run base = run_of_rows({{8, {std::exp(0.00), std::exp(0.02)}}});
  const collbench::Run current = run_of_rows({{8, {std::exp(0.10), std::exp(0.12)}}});
  const ComparedRow row = compare_two_runs(base, current).rows.at(0);
  // By hand: pooled variance 0.0002, standard error 0.0141421, t = 7.07107 with 2 degrees of freedom.
  EXPECT_NEAR(row.ratio, std::exp(0.1), 1e-12);
  EXPECT_NEAR(*row.p, 1 - 7.0710678 / std::sqrt(52.0), 1e-7);
  EXPECT_NEAR(row.ratio_low, std::exp(0.1 - 4.3026527 * 0.0141421356), 1e-7);
  EXPECT_NEAR(row.ratio_high, std::exp(0.1 + 4.3026527 * 0.0141421356), 1e-7);
  EXPECT_EQ(row.change, RowChange::slower);
  EXPECT_EQ(row.base.launches, 2);
}

TEST(Comparison, PIsAdjustedByHolm) {
  // The same row three times over: p of 0.0194 becomes 0.0583, and nothing is called changed.
  const std::vector<double> before{std::exp(0.00), std::exp(0.02)};
  const std::vector<double> after{std::exp(0.10), std::exp(0.12)};
  const Comparison found = compare_two_runs(run_of_rows({{8, before}, {16, before}, {32, before}}),
                                            run_of_rows({{8, after}, {16, after}, {32, after}}));
  for (const ComparedRow& row : found.rows) {
    EXPECT_NEAR(*row.p, 3 * (1 - 7.0710678 / std::sqrt(52.0)), 1e-7);
    EXPECT_EQ(row.change, RowChange::unclear);
    EXPECT_GT(row.launches_to_decide, 2);
  }
}

TEST(Comparison, IsSameWhereALargerDifferenceIsRuledOut) {
  const std::vector<double> before{1.000, 1.002, 0.998, 1.001};
  const std::vector<double> after{1.010, 1.012, 1.008, 1.011};
  const ComparedRow row = compare_two_runs(run_of_rows({{8, before}}), run_of_rows({{8, after}})).rows.at(0);
  EXPECT_LT(*row.p, 0.05) << "significant, and too small to matter";
  EXPECT_EQ(row.change, RowChange::same);
}

TEST(Comparison, ARowOfWrongDataIsUnclearWhateverItsTime) {
  for (const double factor : {0.01, 1.0, 100.0}) {
    for (const std::size_t launches : {1U, 4U}) {
      const collbench::Run right = run_of_rows({{8, std::vector<double>(launches, 1.0)}, {16, {1.0}}});
      collbench::Run wrong = run_of_rows({{8, std::vector<double>(launches, factor)}, {16, {1.0}}});
      wrong.rows[0].measurement.wrong_elements = 1;
      for (const bool is_new : {true, false}) {
        const ComparedRow row =
            is_new ? compare_two_runs(right, wrong).rows[0] : compare_two_runs(wrong, right).rows[0];
        EXPECT_EQ(row.change, RowChange::unclear);
        EXPECT_EQ(row.ratio, 0) << "of what was not the same operation";
        EXPECT_EQ(row.launches_to_decide, 0) << "no number of them would";
        EXPECT_THAT(row.notes, ElementsAre(is_new ? "WRONG DATA in the new run" : "WRONG DATA in the base"));
      }
      Comparison itself = compare_two_runs(wrong, wrong);
      compare_with_itself(itself);
      EXPECT_EQ(itself.rows[0].change, RowChange::unclear);
      EXPECT_EQ(itself.rows[1].change, RowChange::same);
    }
  }
}

TEST(Comparison, OfOneLaunchEachCountsOnlyWhatIsBeyondTheAllowance) {
  const collbench::Run base = run_of_rows({{8, {1.0}}, {16, {1.0}}, {32, {1.0}}});
  const collbench::Run current = run_of_rows({{8, {1.09}}, {16, {1.12}}, {32, {0.88}}});
  const Comparison found = compare_two_runs(base, current);
  EXPECT_FALSE(found.has_repeats);
  EXPECT_EQ(found.rows.at(0).change, RowChange::unclear);
  EXPECT_EQ(found.rows.at(1).change, RowChange::slower);
  EXPECT_EQ(found.rows.at(2).change, RowChange::faster);
  EXPECT_FALSE(found.rows.at(1).p);
}

TEST(Comparison, TheIntervalsOfOneLaunchEachCountToo) {
  const collbench::Run base = run_of_rows({{8, {1.0}}});
  collbench::Run current = run_of_rows({{8, {1.2}}});
  current.rows[0].measurement.interval = TimeInterval{1.05, 1.3, 0.95, false};
  EXPECT_EQ(compare_two_runs(base, current).rows.at(0).change, RowChange::unclear);
}

TEST(Comparison, LaunchesOfOneNightAreOneValueAmongNights) {
  // Nights differ by 10 %, launches within one hardly: by launches 1.12 would be far outside, by nights not.
  const std::vector<collbench::Run> base{run_of_rows({{8, {0.90, 0.901, 0.899, 0.90}}}),
                                         run_of_rows({{8, {1.00, 1.001, 0.999, 1.00}}}),
                                         run_of_rows({{8, {1.10, 1.101, 1.099, 1.10}}})};
  const collbench::Run tonight = run_of_rows({{8, {1.12, 1.121, 1.119, 1.12}}});
  const Comparison found = compare(base, {tonight}, {.launch_allowance = 0.1});
  EXPECT_EQ(found.rows.at(0).base.launches, 3);
  EXPECT_EQ(found.rows.at(0).current.launches, 1);
  EXPECT_EQ(found.rows.at(0).change, RowChange::unclear);
  EXPECT_THAT(found.differences, Contains(HasSubstr("are one value, their median")));
}

TEST(Comparison, SaysThatARunWasCutShort) {
  const collbench::Run base = run_of_rows({{8, {1.0}}, {16, {1.0}}});
  collbench::Run current = run_of_rows({{8, {1.0}}});
  current.complete = false;
  EXPECT_THAT(compare_two_runs(base, current).differences, Contains(HasSubstr("new run: cut short")));
}

TEST(Comparison, SeveralRunsOfTheBaseAreItsLaunches) {
  const std::vector<collbench::Run> base{run_of_rows({{8, {1.00}}}), run_of_rows({{8, {1.01}}}),
                                         run_of_rows({{8, {0.99}}})};
  const Comparison found = compare(base, {run_of_rows({{8, {1.5}}})}, {.launch_allowance = 10});
  EXPECT_EQ(found.rows.at(0).base.launches, 3);
  EXPECT_EQ(found.rows.at(0).change, RowChange::slower);
}

TEST(Comparison, RowsThatOneSideLacksAreListed) {
  const Comparison found =
      compare_two_runs(run_of_rows({{8, {1.0}}, {16, {1.0}}}), run_of_rows({{16, {1.0}}, {32, {1.0}}}));
  std::vector<RowChange> changes;
  for (const ComparedRow& row : found.rows) changes.push_back(row.change);
  EXPECT_THAT(changes, ElementsAre(RowChange::missing, RowChange::unclear, RowChange::added));
}

TEST(Comparison, ARowOfAnotherAlgorithmSaysSo) {
  collbench::Run base = run_of_rows({{8, {1.0}}});
  collbench::Run current = run_of_rows({{8, {1.0}}});
  base.rows[0].measurement.algorithm_ran = "ring";
  current.rows[0].measurement.algorithm_ran = "tree";
  EXPECT_THAT(compare_two_runs(base, current).rows.at(0).notes, ElementsAre("ring → tree"));
}

TEST(Comparison, AnAlgorithmWhoseNameIsPartOfAnotherIsOneOfItsOwn) {
  const auto ran = [](const char* algorithm) {
    collbench::Run run = run_of_rows({{8, {1.0}}});
    run.rows[0].measurement.algorithm_ran = algorithm;
    return run;
  };
  const auto notes = [&](const std::vector<collbench::Run>& base,
                         const std::vector<collbench::Run>& current) {
    return compare(base, current, {}).rows.at(0).notes;
  };
  EXPECT_THAT(notes({ran("segmented_ring"), ran("ring")}, {ran("segmented_ring"), ran("segmented_ring")}),
              ElementsAre("ring, segmented_ring → segmented_ring"));
  EXPECT_THAT(notes({ran("nvls_tree")}, {ran("nvls_tree"), ran("tree")}),
              ElementsAre("nvls_tree → nvls_tree, tree"));
  EXPECT_THAT(notes({ran("ring"), ran("tree")}, {ran("tree"), ran("ring")}), IsEmpty());
}

TEST(Comparison, WhatCannotBeComparedIsRefused) {
  const auto why = [](const collbench::Run& a, const collbench::Run& b) {
    try {
      static_cast<void>(compare_two_runs(a, b));
    } catch (const Error& error) {
      EXPECT_EQ(error.status(), ExitStatus::usage);
      return std::string(error.what());
    }
    return std::string("accepted");
  };
  const collbench::Run base = run_of_rows({{8, {1.0}}});
  EXPECT_THAT(why(base, run_of_rows({{16, {1.0}}})), HasSubstr("no row is in both"));
  collbench::Run exact = run_of_rows({{24, {1.0}}});
  exact.rows[0].measurement.key.operation = OperationId::all_gather;
  exact.rows[0].measurement.key.count = 3;
  exact.buffers.exact_counts = true;
  EXPECT_THAT(why(exact, run_of_rows({{32, {1.0}}})), HasSubstr("rounded to whole elements in the base"));
  collbench::Run other = base;
  other.ranks.pop_back();
  EXPECT_THAT(why(base, other), HasSubstr("2 ranks and another 1 rank"));
  other = base;
  other.simulated = true;
  EXPECT_THAT(why(base, other), HasSubstr("simulated"));
  other = base;
  other.gpus_simulated = true;
  EXPECT_THAT(why(other, base), HasSubstr("of simulated GPUs"));
  EXPECT_THAT(why(base, other), HasSubstr("of simulated GPUs"));
  EXPECT_THAT(why(other, other), HasSubstr("of simulated GPUs"));
  other = base;
  other.time_reduction = RankAggregate::average;
  EXPECT_THAT(why(base, other), HasSubstr("by max in one run and by avg"));
}

/// Of comparisons of 20 rows, eight launches a side, times lognormal with 5 % between launches.
struct Simulated {
  int with_a_change = 0;
  int slower = 0;
};

Simulated simulate(int comparisons, double slowdown) {
  std::mt19937_64 random(20261123);
  std::normal_distribution<double> noise(0, 0.05);
  Simulated seen;
  for (int i = 0; i < comparisons; ++i) {
    std::vector<RowTimes> base;
    std::vector<RowTimes> current;
    for (std::uint64_t size = 1; size <= 20; ++size) {
      base.push_back({size, {}});
      current.push_back({size, {}});
      for (int launch = 0; launch < 8; ++launch) {
        base.back().launch_seconds.push_back(std::exp(noise(random)));
        current.back().launch_seconds.push_back(slowdown * std::exp(noise(random)));
      }
    }
    const Comparison found = compare_two_runs(run_of_rows(base), run_of_rows(current));
    if (found.count(RowChange::slower) + found.count(RowChange::faster) > 0) ++seen.with_a_change;
    seen.slower += static_cast<int>(found.count(RowChange::slower));
  }
  return seen;
}

TEST(Comparison, CallsAnyRowChangedInAtMostOneOfTwentyComparisonsOfTheSame) {
  // P(Bin(400, 0.05) > 32) is below 0.003.
  EXPECT_LE(simulate(400, 1).with_a_change, 32);
}

TEST(Comparison, SeesASlowdownOfAFifth) { EXPECT_GE(simulate(20, 1.2).slower, 20 * 20 * 95 / 100); }

/// A run of one launch per element: its time and its probe's round trip in ns, three passes each.
collbench::Run run_in_states(const std::vector<std::pair<double, double>>& launches) {
  collbench::Run run = run_of_rows({{8, {1.0}}});
  Measurement& measured = run.rows[0].measurement;
  measured.pass_seconds.clear();
  measured.launch_passes.clear();
  for (const auto& [seconds, round_trip] : launches) {
    measured.launch_passes.push_back(3);
    for (int pass = 0; pass < 3; ++pass) {
      measured.pass_seconds.push_back(seconds);
      // No two probes are alike: what is, is one probe.
      const double scatter = 1 + 1e-9 * static_cast<double>(measured.pass_seconds.size());
      measured.pass_probes.push_back({.round_trip_seconds = round_trip * 1e-9 * scatter});
    }
  }
  measured.seconds = median(measured.pass_seconds);
  return run;
}

TEST(Comparison, LaunchesOfOneStateAreComparedWithThoseOfTheSame) {
  // The new run was in the slow state more often; in each state it takes as long as the base.
  const auto base = run_in_states({{1.0, 110}, {1.01, 111}, {0.99, 109}, {1.0, 112}, {3.0, 530}});
  const auto current =
      run_in_states({{3.0, 531}, {3.02, 530}, {2.98, 533}, {1.01, 110}, {1.0, 111}, {0.99, 108}});
  const Comparison comparison = compare({base}, {current}, {.launch_allowance = 0.1});
  ASSERT_EQ(comparison.rows.size(), 1U);
  const ComparedRow& row = comparison.rows[0];
  EXPECT_EQ(row.change, RowChange::same);
  EXPECT_EQ(row.base.launches, 4);
  EXPECT_EQ(row.current.launches, 3);
  EXPECT_TRUE(comparison.knows_states);
  EXPECT_THAT(
      comparison.differences,
      Contains("new run: the machine was in 2 states, by the round trip of a cache line between neighboring "
               "ranks: 110 ns in 50 % of the passes, 531 ns in 50 % of the passes"));
}

TEST(Comparison, OfTwoSittingsCountsOnlyWhatIsBeyondTheirAllowance) {
  // By hand: as in OfLaunchesIsStudentsTOfTheirLogTimes, with t of 0.1 - ln 1.05 beyond the allowance.
  const collbench::Run before = run_of_rows({{8, {std::exp(0.00), std::exp(0.02)}}});
  const collbench::Run after = run_of_rows({{8, {std::exp(0.10), std::exp(0.12)}}});
  const double t = (0.1 - std::log(1.05)) / 0.0141421356;
  const ComparedRow by_hand = compare({before}, {after}, {.unknown_state_allowance = 0.05}).rows.at(0);
  EXPECT_NEAR(*by_hand.p, 1 - t / std::sqrt(2 + t * t), 1e-7);

  const auto base = run_in_states({{1.0, 110}, {1.01, 111}, {0.99, 109}, {1.0, 112}});
  const auto slower = [](double factor) {
    return run_in_states({{factor, 110}, {1.01 * factor, 111}, {0.99 * factor, 109}, {1.0 * factor, 112}});
  };
  const CompareOptions options{.sitting_allowance = 0.3, .unknown_state_allowance = 2};
  for (const auto& [factor, change] :
       {std::pair{1.0, RowChange::unclear}, std::pair{1.2, RowChange::unclear},
        std::pair{1 / 1.2, RowChange::unclear}, std::pair{1.4, RowChange::slower},
        std::pair{1 / 1.4, RowChange::faster}})
    EXPECT_EQ(compare({base}, {slower(factor)}, options).rows.at(0).change, change) << factor;
  // Which is said, and not that more launches would help.
  const Comparison near = compare({base}, {slower(1.2)}, options);
  EXPECT_TRUE(near.rows[0].is_within_sittings);
  EXPECT_EQ(near.rows[0].launches_to_decide, 0);
  EXPECT_THAT(report_text(near), HasSubstr("collbench repeat -- A --versus B"));
  // Several sittings show by themselves how far they are apart.
  const Comparison nights = compare({base, slower(1.001), slower(1.002)}, {slower(1.2)}, options);
  EXPECT_EQ(nights.sitting_allowance, 0);
  EXPECT_EQ(nights.rows[0].change, RowChange::slower);
  // Where no record says in which state the machine was, the other allowance holds.
  auto blind = slower(2.5);
  blind.rows[0].measurement.pass_probes.clear();
  EXPECT_EQ(compare({base}, {blind}, options).rows.at(0).change, RowChange::unclear);
}

TEST(Comparison, AChangeOfStateIsNamedAndIsNoRegression) {
  const auto fast = run_in_states({{1.0, 110}, {1.01, 111}, {0.99, 109}});
  const auto slow = run_in_states({{3.0, 531}, {3.02, 530}, {2.98, 533}});
  const Comparison comparison = compare({fast}, {slow}, {.launch_allowance = 0.1});
  EXPECT_EQ(comparison.rows[0].change, RowChange::unclear);
  EXPECT_TRUE(comparison.rows[0].is_other_state);
  EXPECT_FALSE(comparison.rows[0].p);
  EXPECT_THAT(report_text(comparison), HasSubstr("1 row UNCLEAR because the machine was in another state"));
  // Round trips that differ by less are no state where no time says so: this is a regression.
  const auto slower = run_in_states({{3.0, 151}, {3.02, 150}, {2.98, 153}});
  EXPECT_EQ(compare({fast}, {slower}, {.launch_allowance = 0.1}).rows[0].change, RowChange::slower);
  // No state was seen to change a time by ten.
  const auto far_slower = run_in_states({{10.0, 531}, {10.02, 530}, {9.98, 533}});
  EXPECT_EQ(compare({fast}, {far_slower}, {.launch_allowance = 0.1}).rows[0].change, RowChange::slower);
  // Nor does a disturbed launch make a factor of three one of ten.
  const auto disturbed = run_in_states({{3.0, 531}, {3.02, 530}, {100, 533}});
  EXPECT_TRUE(compare({fast}, {disturbed}, {.launch_allowance = 0.1}).rows[0].is_other_state);
  // A side that nobody probed is compared as it is.
  auto unknown = slow;
  unknown.rows[0].measurement.pass_probes.clear();
  const Comparison blind = compare({fast}, {unknown}, {.launch_allowance = 0.1});
  EXPECT_EQ(blind.rows[0].change, RowChange::slower);
  EXPECT_FALSE(blind.knows_states);
}

}  // namespace
}  // namespace collbench::analysis
