#include "analysis/stragglers/step_verdict.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/record/measured_block.hpp"

namespace collbench::analysis::step_verdict_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr double kCompute = 5e-3;
constexpr double kAllReduce = 2e-3;

/// What one rank does in a step.
struct OwnStep {
  double compute = kCompute;
  double between = 1e-6;
  double cpu_share = 1;
};

/// What the rows of a run measured of ranks that wait for the last of them in each step. The blocks' compute
/// differs by up to a thousandth, as of a quiet machine.
Measurement measured(const std::vector<OwnStep>& ranks, int passes = 8, int disturbed_passes = 0) {
  RowSamples samples;
  for (int pass = 0; pass < passes; ++pass) {
    MeasuredBlock block;
    block.pass = pass;
    block.seconds = kCompute + kAllReduce;
    block.iterations = 10;
    double last = 0;
    for (const OwnStep& rank : ranks) last = std::max(last, rank.compute + rank.between);
    for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
      OwnStep own = pass < disturbed_passes || disturbed_passes == 0 ? ranks[rank] : OwnStep{};
      own.compute *= 1 + 1e-3 * static_cast<double>((pass * 7 + static_cast<int>(rank) * 3) % 5) / 5;
      StepTimes step;
      step.compute_seconds = own.compute;
      step.compute_cpu_seconds = own.compute * own.cpu_share;
      step.between_seconds = own.between;
      step.inside_seconds = kAllReduce + last - own.compute - own.between;
      step.alone_seconds = kAllReduce;
      block.ranks.push_back({static_cast<int>(rank), 7e-3, 7e-3, std::nullopt, std::nullopt, step});
    }
    samples.add(block, 0);
  }
  Measurement result;
  result.key = {
      .operation = OperationId::step, .size_bytes = 1024, .count = 256, .reduction = Reduction::sum};
  samples.summarize(result);
  return result;
}

Identities identities(std::size_t count) {
  Identities ranks;
  for (int rank = 0; std::cmp_less(rank, count); ++rank)
    ranks.push_back({rank, "n" + std::to_string(rank / 2), rank / 2, rank % 2});
  return ranks;
}

StepVerdict verdict(const std::vector<OwnStep>& ranks, int passes = 8, int disturbed_passes = 0) {
  return step_verdict(measured(ranks, passes, disturbed_passes), identities(ranks.size()), nullptr, "");
}

TEST(StepVerdict, NobodyIsSlowAmongAlikeRanks) {
  for (const std::size_t count : {2U, 3U, 4U, 8U, 64U}) {
    const StepVerdict found = verdict(std::vector<OwnStep>(count));
    EXPECT_EQ(found.word, StepWord::nobody) << count << found.text;
    EXPECT_THAT(found.findings, IsEmpty()) << count;
  }
}

TEST(StepVerdict, ALongerKernelIsSlowInCompute) {
  std::vector<OwnStep> ranks(8);
  ranks[3].compute = 1.3 * kCompute;
  const StepVerdict found = verdict(ranks);
  ASSERT_EQ(found.word, StepWord::named);
  ASSERT_EQ(found.findings.size(), 1U);
  EXPECT_EQ(found.findings[0].cause, StepCause::compute);
  EXPECT_THAT(found.findings[0].ranks, ElementsAre(3));
  EXPECT_NEAR(found.findings[0].seconds, 0.3 * kCompute, 0.01 * kCompute);
  EXPECT_NEAR(found.findings[0].ratio, 1.3, 0.005);
  EXPECT_THAT(found.findings[0].text, HasSubstr("rank 3 on n1 is slow in compute: 6.5"));
  EXPECT_THAT(found.findings[0].text,
              HasSubstr("ran 100 % of that time, and 1.30 times as long as the others'"));
}

TEST(StepVerdict, WhoseCoreOthersUseIsSlowForThatReason) {
  std::vector<OwnStep> ranks(4);
  ranks[0] = {.compute = 2 * kCompute, .cpu_share = 0.5};
  const StepVerdict found = verdict(ranks);
  ASSERT_EQ(found.findings.size(), 1U);
  EXPECT_THAT(found.findings[0].text, HasSubstr("ran 50 % of that time: something else is on its core"));
}

TEST(StepVerdict, OfTwoRanksTheSlowerOneIsNamedAgainstTheOther) {
  const StepVerdict found = verdict({{}, {.compute = 1.5 * kCompute}});
  ASSERT_EQ(found.findings.size(), 1U);
  EXPECT_THAT(found.findings[0].ranks, ElementsAre(1));
  EXPECT_THAT(found.findings[0].text, HasSubstr("of the other rank (1.50 times)"));
}

TEST(StepVerdict, TimeOutsideOfBothIsLateForAnotherReason) {
  std::vector<OwnStep> ranks(4);
  ranks[2].between = 1e-3;
  const StepVerdict found = verdict(ranks);
  ASSERT_EQ(found.findings.size(), 1U);
  EXPECT_EQ(found.findings[0].cause, StepCause::late);
  EXPECT_THAT(found.findings[0].ranks, ElementsAre(2));
  EXPECT_NEAR(found.findings[0].seconds, 1e-3, 1e-5);
  EXPECT_THAT(found.findings[0].text, HasSubstr("neither in compute nor in communication"));
}

TEST(StepVerdict, TheOneThatIsWaitedForLongestComesFirst) {
  std::vector<OwnStep> ranks(8);
  ranks[1].compute = 1.2 * kCompute;
  ranks[6].between = 3e-3;
  const StepVerdict found = verdict(ranks);
  ASSERT_EQ(found.findings.size(), 2U);
  EXPECT_EQ(found.findings[0].cause, StepCause::late);
  EXPECT_EQ(found.findings[1].cause, StepCause::compute);
}

TEST(StepVerdict, BelowTheLinesNobodyIsNamed) {
  std::vector<OwnStep> ranks(8);
  ranks[3].compute = 1.04 * kCompute;
  ranks[4].between = 1e-4;  // 1.4 % of a step
  EXPECT_THAT(verdict(ranks).findings, IsEmpty());
  ranks[3].compute = 1.06 * kCompute;
  EXPECT_EQ(verdict(ranks).findings.size(), 1U);
}

TEST(StepVerdict, WhatHalfOfThePassesShowIsNotNamed) {
  std::vector<OwnStep> ranks(4);
  ranks[1].compute = 2 * kCompute;
  EXPECT_THAT(verdict(ranks, 12, 8).findings, IsEmpty()) << "8 of 12 passes are less than three of four";
  EXPECT_EQ(verdict(ranks, 12, 10).findings.size(), 1U);
}

TEST(StepVerdict, RanksThatScatterNameNobodyWithinTheirScatter) {
  std::vector<OwnStep> ranks(8);
  for (std::size_t i = 0; i < ranks.size(); ++i)
    ranks[i].compute = kCompute * (1 + 0.03 * static_cast<double>(i));
  EXPECT_THAT(verdict(ranks).findings, IsEmpty());
}

TEST(StepVerdict, TwoKindsOfRanksAreNoStragglers) {
  std::vector<OwnStep> ranks(10);
  for (std::size_t i = 0; i < 4; ++i) ranks[i].compute = 1.5 * kCompute;
  const StepVerdict found = verdict(ranks);
  EXPECT_EQ(found.word, StepWord::ambiguous);
  EXPECT_THAT(found.findings, IsEmpty());
  EXPECT_THAT(found.text, HasSubstr("4 of 10 ranks compute for longer"));
}

TEST(StepVerdict, WaitingThatNoRankCausesAloneIsSaid) {
  Measurement row = measured(std::vector<OwnStep>(4));
  for (RankTimes& times : row.ranks) times.step->inside_seconds += 1e-3;
  const StepVerdict found = step_verdict(row, identities(4), nullptr, "");
  EXPECT_EQ(found.word, StepWord::ambiguous);
  EXPECT_THAT(found.text, HasSubstr("takes 998 µs longer in a step than alone"));
}

TEST(StepVerdict, ALinkIsWhatTheProbesFound) {
  RankProbe probe;
  probe.findings.push_back({.kind = ProbeFindingKind::late_rank, .ranks = {1}, .text = "late"});
  probe.findings.push_back(
      {.kind = ProbeFindingKind::slow_sender, .ranks = {2}, .ratio = 2, .text = "n1 is slow to send"});
  const StepVerdict found = step_verdict(measured(std::vector<OwnStep>(4)), identities(4), &probe, "");
  ASSERT_EQ(found.findings.size(), 1U);
  EXPECT_EQ(found.findings[0].cause, StepCause::link);
  EXPECT_THAT(found.findings[0].ranks, ElementsAre(2));
  EXPECT_THAT(found.findings[0].text,
              HasSubstr("n1 is slow to send; the AllReduce, which every rank waits for, is 29 % of a step"));
}

TEST(StepVerdict, TooFewAndObstaclesAreSaid) {
  EXPECT_EQ(verdict({{}}).word, StepWord::too_few);
  EXPECT_EQ(verdict({{}, {.compute = 2 * kCompute}}, 5).word, StepWord::too_few);
  EXPECT_EQ(verdict({{}, {.compute = 2 * kCompute}}, 6).word, StepWord::named);
  const auto shared = step_verdict(measured({{}, {}}), identities(2), nullptr, "ranks share cores");
  EXPECT_EQ(shared.word, StepWord::not_judged);
  EXPECT_EQ(shared.text, "ranks share cores");
  Measurement unknown = measured({{}, {}});
  unknown.ranks[1].step.reset();
  EXPECT_EQ(step_verdict(unknown, identities(2), nullptr, "").word, StepWord::too_few);
}

TEST(StepVerdict, ARunsStepsAreJudgedByItsNotesAndProbes) {
  collbench::Run run;
  run.ranks = identities(4);
  std::vector<OwnStep> ranks(4);
  ranks[1].compute = 2 * kCompute;
  run.rows.resize(2);
  run.rows[0].measurement = measured(ranks);
  run.rows[1].measurement.key.operation = OperationId::all_reduce;
  tell_steps(run);
  ASSERT_TRUE(run.rows[0].step);
  EXPECT_EQ(run.rows[0].step->word, StepWord::named);
  EXPECT_FALSE(run.rows[1].step);
  run.environment_notes = {std::string(kNotProbed) + "ranks share cores"};
  tell_steps(run);
  EXPECT_EQ(run.rows[0].step->word, StepWord::not_judged);
}

TEST(StepVerdict, OverLaunchesTheMedianLaunchIsJudged) {
  std::vector<OwnStep> slow(4);
  slow[2].compute = 2 * kCompute;
  std::vector<collbench::Run> launches(3);
  for (std::size_t i = 0; i < launches.size(); ++i) {
    launches[i].ranks = identities(4);
    launches[i].rows.resize(1);
    launches[i].rows[0].measurement = measured(i == 0 ? slow : std::vector<OwnStep>(4));
  }
  collbench::Run merged = launches[0];
  merge_steps(merged, launches);
  EXPECT_EQ(merged.rows[0].step->word, StepWord::nobody) << "one launch of three";
  launches[1] = launches[0];
  merge_steps(merged, launches);
  EXPECT_EQ(merged.rows[0].step->word, StepWord::named);
}

}  // namespace
}  // namespace collbench::analysis::step_verdict_test
