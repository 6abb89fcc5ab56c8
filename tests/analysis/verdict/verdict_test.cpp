#include "analysis/verdict/verdict.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <utility>
#include <vector>

#include "analysis/models/nccl/cluster_of_run.hpp"
#include "analysis/models/nccl/healthy_ranges.hpp"
#include "analysis/models/nccl/links.hpp"
#include "base/units.hpp"
#include "tests/analysis/models/nccl/clusters.hpp"
#include "tests/analysis/verdict/judged_rows.hpp"

namespace collbench::analysis::verdict_test {

namespace {

/// Ring 10 s, expected 8 s; `seconds` measured. The size grows with `index` from 16 MiB.
Row row_of(int index, double seconds) {
  Row row;
  row.measurement.key.size_bytes = (16 * kMiB) << static_cast<unsigned>(index);
  row.measurement.seconds = seconds;
  row.measurement.algorithm_ran = "nvls";
  row.expectation.ring_seconds = 10;
  row.expectation.expected_seconds = 8;
  row.expectation.expected_by = "nvls";
  return row;
}

/// BELOW from 10 s on, SOUND up to 8.89 s and from 7.27 s on.
HealthyRange range_of_row(const Row& /*row*/) { return {0.8, 0.9, 1.1, "a test"}; }

SeriesJudgement judgement(const std::vector<Row>& rows, bool choice_is_known = false) {
  const auto all_series = verdict_series_of(rows);
  EXPECT_EQ(all_series.size(), 1U);
  return judge_series(all_series.front(), quicker_rows(rows, all_series.front()), range_of_row,
                      choice_is_known);
}

VerdictWord verdict(const std::vector<Row>& rows) { return judgement(rows).word; }

std::vector<Row> rows_of(std::initializer_list<double> seconds) {
  std::vector<Row> rows;
  for (const double each : seconds) rows.push_back(row_of(static_cast<int>(rows.size()), each));
  return rows;
}

TEST(Verdict, TheMedianOfTheThreeLargestDecides) {
  EXPECT_EQ(verdict(rows_of({8, 8, 8, 8, 8})), VerdictWord::sound);
  EXPECT_EQ(verdict(rows_of({8, 8, 8, 9.5, 8})), VerdictWord::sound);  // one dip is no verdict
  EXPECT_EQ(verdict(rows_of({8, 8, 8, 8.8, 8.8})), VerdictWord::sound);
  EXPECT_EQ(verdict(rows_of({8, 8, 8, 9.5, 9.5})), VerdictWord::unclear);
  EXPECT_EQ(verdict(rows_of({8, 8, 8, 11, 11})), VerdictWord::below);
  EXPECT_EQ(verdict(rows_of({8, 8, 8, 19.9, 19.9})), VerdictWord::below);  // half of the ring is 20 s
  EXPECT_EQ(verdict(rows_of({8, 8, 8, 21, 21})), VerdictWord::fault);
  EXPECT_EQ(verdict(rows_of({8, 8, 8, 7.2, 7.2})), VerdictWord::unclear);
  EXPECT_EQ(judgement(rows_of({8, 8, 8, 7.2, 7.2})).reason, VerdictReason::above);
  EXPECT_EQ(verdict(rows_of({8, 8, 11})), VerdictWord::below);  // 16, 32, 64 MiB: one is enough
  EXPECT_DOUBLE_EQ(judgement(rows_of({8, 8, 8, 16, 16})).ratio.value_or(0), 0.5);
}

TEST(Verdict, SmallRowsAloneAreUnclear) {
  EXPECT_EQ(verdict(rows_of({50, 50})), VerdictWord::unclear);
  EXPECT_EQ(judgement(rows_of({50, 50})).reason, VerdictReason::no_large_row);
}

TEST(Verdict, TheWholeIntervalHasToBeBelow) {
  auto rows = rows_of({8, 8, 8, 11, 11});
  for (Row& row : rows)
    row.measurement.interval = {row.measurement.seconds * 0.97, row.measurement.seconds * 1.03, 0.95};
  EXPECT_EQ(verdict(rows), VerdictWord::below);
  for (Row& row : rows)
    row.measurement.interval = {row.measurement.seconds * 0.9, row.measurement.seconds * 1.1, 0.95};
  EXPECT_EQ(verdict(rows), VerdictWord::unclear);  // 9.9 s is not
}

TEST(Verdict, TheSlowerOfInAndOutOfPlaceCounts) {
  auto rows = rows_of({8, 8, 8, 8, 8});
  for (int index = 2; index < 5; ++index) {
    rows.push_back(row_of(index, 11));
    rows.back().measurement.key.in_place = true;
  }
  EXPECT_EQ(verdict(rows), VerdictWord::below);
  for (std::size_t i = 5; i < rows.size(); ++i) rows[i].measurement.seconds = 7.9;
  EXPECT_EQ(verdict(rows), VerdictWord::sound);
}

/// Out of place a rank copies its own part, which no link carries.
TEST(Verdict, AnAllGatherThatIsSoundInPlaceHasSoundLinks) {
  auto rows = rows_of({11, 11, 11, 11, 11});
  for (int index = 2; index < 5; ++index) {
    rows.push_back(row_of(index, 8));
    rows.back().measurement.key.in_place = true;
  }
  const auto set = [&rows](double out_of_place, double in_place) {
    for (Row& row : rows) row.measurement.seconds = row.measurement.key.in_place ? in_place : out_of_place;
  };
  EXPECT_EQ(verdict(rows), VerdictWord::below) << "an AllReduce";
  for (Row& row : rows) row.measurement.key.operation = OperationId::all_gather;
  EXPECT_EQ(verdict(rows), VerdictWord::unclear);
  EXPECT_EQ(judgement(rows).reason, VerdictReason::copy);
  EXPECT_DOUBLE_EQ(judgement(rows).ratio.value_or(0), 1);
  set(8, 11);
  EXPECT_EQ(verdict(rows), VerdictWord::below) << "in place there is no copy";
  set(11, 4);
  EXPECT_EQ(verdict(rows), VerdictWord::below) << "no machine is as quick as that";
  set(40, 8);
  EXPECT_EQ(verdict(rows), VerdictWord::fault) << "no copy takes as long";
}

TEST(Verdict, ARateOfAnotherAlgorithmIsUnclearUnlessTheChoiceIsKnown) {
  auto rows = rows_of({10, 10, 10.5, 10.5, 10.5});  // 0.95 of the ring
  EXPECT_EQ(verdict(rows), VerdictWord::below) << "NVLS is known to have run";
  for (Row& row : rows) row.measurement.algorithm_ran = kLibraryChoice;
  EXPECT_EQ(judgement(rows).reason, VerdictReason::other_algorithm);
  EXPECT_EQ(judgement(rows).other_algorithm, "ring");
  EXPECT_EQ(verdict(rows), VerdictWord::unclear);
  EXPECT_EQ(judgement(rows, true).word, VerdictWord::below);
  EXPECT_EQ(judgement(rows, true).reason, VerdictReason::no_nvls);
  for (Row& row : rows) row.expectation.expected_by = "tree";  // what NCCL chooses by a narrow margin
  EXPECT_EQ(judgement(rows, true).word, VerdictWord::unclear);
  for (Row& row : rows) row.expectation.expected_by = "pat";
  EXPECT_EQ(judgement(rows, true).word, VerdictWord::below) << "no other algorithm is an excuse";
  EXPECT_EQ(judgement(rows, true).reason, VerdictReason::slow);
  for (Row& row : rows) row.measurement.seconds = 13;  // below the range of the ring as well
  EXPECT_EQ(verdict(rows), VerdictWord::below);
}

TEST(Verdict, ASizeThatCollapsesIsBelowHoweverWellTheLargestAre) {
  auto healthy = rows_of({0, 0, 0, 0, 0, 0, 0, 0});
  for (std::size_t i = 0; i < healthy.size(); ++i) {  // linear in size
    healthy[i].measurement.seconds = static_cast<double>(1U << i);
    healthy[i].expectation.expected_seconds = healthy[i].measurement.seconds;
    healthy[i].expectation.ring_seconds = healthy[i].measurement.seconds;
  }
  EXPECT_EQ(verdict(healthy), VerdictWord::sound);
  auto one = healthy;
  one[1].measurement.seconds *= 4;
  EXPECT_EQ(judgement(one).word, VerdictWord::below);
  EXPECT_EQ(judgement(one).reason, VerdictReason::collapsed);
  EXPECT_EQ(judgement(one).decided_by->measurement.key.size_bytes, 32 * kMiB);
  auto several = healthy;  // 1 to 3 % of what is expected on four sizes in a row
  for (std::size_t i = 1; i < 5; ++i) several[i].measurement.seconds *= 50;
  EXPECT_EQ(verdict(several), VerdictWord::below);
  auto mild = healthy;
  mild[1].measurement.seconds *= 2.5;
  EXPECT_EQ(verdict(mild), VerdictWord::sound);
  auto overtaken = healthy;  // slow as its neighbors are, and a little slower than a larger one
  for (std::size_t i = 0; i < 4; ++i) overtaken[i].measurement.seconds = i == 1 ? 13 : 12;
  EXPECT_NE(judgement(overtaken).reason, VerdictReason::collapsed);
  overtaken[0].measurement.seconds = 17;  // longer than 16 times its bytes
  EXPECT_EQ(judgement(overtaken).reason, VerdictReason::collapsed);
  overtaken[0].measurement.seconds = 12;
  overtaken[1].measurement.seconds = 20;
  EXPECT_EQ(judgement(overtaken).reason, VerdictReason::collapsed);
  auto modeled = one;  // slow by the model, too
  modeled[1].expectation.expected_seconds = *modeled[1].expectation.expected_seconds * 2;
  EXPECT_EQ(verdict(modeled), VerdictWord::sound);
  auto tiny = one;
  for (Row& row : tiny) row.measurement.key.size_bytes >>= 6U;
  tiny.push_back(healthy.back());
  EXPECT_EQ(verdict(tiny), VerdictWord::sound) << "512 KiB";
}

TEST(Verdict, TheLargestSizeMayCollapseAsWell) {
  auto rows = rows_of({1, 2, 4, 8, 16});
  for (Row& row : rows)
    row.expectation.expected_seconds = row.expectation.ring_seconds = row.measurement.seconds;
  EXPECT_EQ(verdict(rows), VerdictWord::sound);
  rows.back().measurement.seconds *= 20;
  EXPECT_EQ(judgement(rows).reason, VerdictReason::collapsed);
  EXPECT_DOUBLE_EQ(judgement(rows).ratio.value_or(0), 0.05);
  rows.back().measurement.seconds = 16 / 0.4;
  EXPECT_EQ(judgement(rows).word, VerdictWord::unclear);
  EXPECT_EQ(judgement(rows).reason, VerdictReason::uneven);
  EXPECT_EQ(judgement(rows).decided_by, &rows.back());
}

TEST(Verdict, WhatCollapsesOutOfPlaceAloneIsAHiccup) {
  auto rows = rows_of({1, 2, 4, 8, 16});
  for (Row& row : rows)
    row.expectation.expected_seconds = row.expectation.ring_seconds = row.measurement.seconds;
  rows.push_back(rows[1]);
  rows.back().measurement.key.in_place = true;
  rows.back().measurement.seconds *= 10;
  EXPECT_EQ(verdict(rows), VerdictWord::sound);
  rows[1].measurement.seconds *= 10;
  EXPECT_EQ(verdict(rows), VerdictWord::below);
}

TEST(Verdict, AProvidersLimitDecidesByItself) {
  const auto rows = rows_of({8, 8, 8, 8, 8.2});
  const auto series = verdict_series_of(rows).front();
  const RangeOfRow range_of = [](const Row& row) {
    const bool has_limit = row.measurement.key.size_bytes >= 256 * kMiB;
    return has_limit ? HealthyRange{0.98, 0.98, 1.1, "a limit"} : range_of_row(row);
  };
  const SeriesJudgement result = judge_series(series, series, range_of, false);
  EXPECT_EQ(result.word, VerdictWord::below);
  EXPECT_NEAR(result.ratio.value_or(0), 8 / 8.2, 1e-9);
  EXPECT_EQ(result.range->source, "a limit");
}

TEST(Verdict, WithoutAnExpectationThereIsNone) {
  auto rows = rows_of({90, 90, 90, 90});
  for (Row& row : rows) row.expectation = {};
  EXPECT_EQ(verdict(rows), VerdictWord::none);
}

TEST(Verdict, TheMachineHasTheWorstWordAndIsSoundOnlyAsAWhole) {
  collbench::Run run;
  run.complete = true;
  run.rows = rows_of({8, 8, 8});
  EXPECT_EQ(machine_word(run), VerdictWord::none);
  for (Row& row : run.rows) row.verdict.word = VerdictWord::sound;
  EXPECT_EQ(machine_word(run), VerdictWord::sound);
  run.complete = false;
  EXPECT_EQ(machine_word(run), VerdictWord::unclear);
  run.complete = true;
  run.rows[0].measurement.wrong_elements = 1;
  EXPECT_EQ(machine_word(run), VerdictWord::unclear);
  run.rows[1].verdict.word = VerdictWord::below;
  EXPECT_EQ(machine_word(run), VerdictWord::below);
  run.rows[2].verdict.word = VerdictWord::fault;
  EXPECT_EQ(machine_word(run), VerdictWord::fault);
}

TEST(Verdict, WhatWasFoundExplainsTheLossInItsShareOrContradictsTheRun) {
  const GpuCluster sound = cluster_of("ndv4", 2);
  const auto said = [&](double slower, double left) {
    GpuCluster found = sound;
    found.nic_line_rate *= left;
    found.nic_path *= left;
    return explained_loss(judged_on_gpus(run_from_expectation(sound, slower, OperationId::all_gather), sound),
                          found);
  };
  EXPECT_EQ(said(1, 0.5), "") << "nothing is lost";
  EXPECT_EQ(said(2, 1), "") << "what was found is as good";
  EXPECT_THAT(said(2, 0.5), testing::HasSubstr("0.50 of the expected rate, which explains all of the loss"));
  EXPECT_THAT(said(4, 0.5), testing::HasSubstr("which explains 66 % of the loss of AllGather"));
  EXPECT_THAT(said(2, 0.1), testing::HasSubstr("that was not its state during this run"));
}

TEST(Verdict, AResourceIsTestedByTheSoundSeriesThatHidesLeast) {
  collbench::Run run;
  run.rows = rows_of({8, 8});
  run.rows[1].measurement.key.operation = OperationId::all_gather;
  const auto hidden = [&](std::vector<HiddenLoss> all_reduce, std::vector<HiddenLoss> all_gather) {
    run.rows[0].verdict = {.word = VerdictWord::sound, .explanation = "", .hidden = std::move(all_reduce)};
    run.rows[1].verdict = {.word = VerdictWord::sound, .explanation = "", .hidden = std::move(all_gather)};
    std::vector<HiddenLoss> left;
    for (const ResourceTest& test : resource_tests(run)) left.push_back(test.hidden);
    return left;
  };
  const HiddenLoss half{"NIC", 0.5, "half"};
  const HiddenLoss one{"NIC", 0.125, "one"};
  const HiddenLoss none{"NIC", 0, ""};
  const HiddenLoss links{"NVLink", 0.06, "links"};
  EXPECT_THAT(hidden({half}, {one, links}), testing::ElementsAre(one, links));
  EXPECT_THAT(hidden({half, links}, {half, links}), testing::ElementsAre(half, links));
  EXPECT_THAT(hidden({half}, {none}), testing::ElementsAre(none));
  EXPECT_EQ(resource_tests(run).front().best_row, &run.rows[1]);
  EXPECT_TRUE((ResourceTest{half}.is_untested()));
  EXPECT_FALSE((ResourceTest{one}.is_untested()));
  run.rows[1].verdict.word = VerdictWord::unclear;
  EXPECT_EQ(resource_tests(run).size(), 1U);
  EXPECT_EQ(resource_tests(run).front().hidden, half) << "only what is SOUND rules out";
}

TEST(Verdict, SweepsAreByKeyAndInTheOrderOfSizes) {
  auto rows = rows_of({1, 2, 3, 4});
  std::swap(rows[0], rows[3]);
  rows[1].measurement.key.in_place = true;
  rows[2].measurement.unavailable = "no";
  const auto all_series = series_of(rows);
  ASSERT_EQ(all_series.size(), 2U);
  EXPECT_EQ(all_series[0], (SizeSeries{&rows[3], rows.data()}));
  EXPECT_EQ(all_series[1], SizeSeries{&rows[1]});
}

}  // namespace

}  // namespace collbench::analysis::verdict_test
