#include "base/record/measured_block.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/base/impossible_values.hpp"
#include "tests/base/record/random_run.hpp"

namespace collbench::measured_block_test {
namespace {

using ::testing::HasSubstr;

std::string message_of(const Json& json) {
  try {
    const nlohmann::json document = json;
    static_cast<void>(block_from_json(JsonReader(document, "run.stream:2"), 4, 2));
  } catch (const Error& error) {
    return describe(error);
  }
  return "nothing was thrown";
}

TEST(MeasuredBlockJson, WhatIsWrittenIsReadBack) {
  RandomRun random(7);
  for (int i = 0; i < 500; ++i) {
    const MeasuredBlock block = random.block(4, 2);
    const auto document = nlohmann::json::parse(json_line(block_to_json(block)));
    ASSERT_EQ(block_from_json(JsonReader(document, "run.stream:2"), 4, 2), block);
  }
}

TEST(MeasuredBlockJson, AnImpossibleNumberIsRefusedWithItsPath) {
  RandomRun random(6);
  std::set<std::string> tried;
  const auto read = [](const std::string& text, const std::string& file) {
    const nlohmann::json document = parse_json_line(text, file);
    (void)block_from_json(JsonReader(document, file), 4, 2);
  };
  for (int i = 0; i < 30; ++i) {
    const auto json = nlohmann::json::parse(json_line(block_to_json(random.block(4, 2))));
    expect_impossible_numbers_refused(json, read, {}, tried);
  }
  EXPECT_GT(tried.size(), 15U);
}

TEST(MeasuredBlockJson, ASampleHasAsManyDigitsAsItsFloat) {
  MeasuredBlock block;
  block.samples = {1.1e-6F};
  EXPECT_EQ(json_line(block_to_json(block)["samples_seconds"]), "[1.1e-06]");
}

TEST(MeasuredBlockJson, ARowOrARankThatTheRunDoesNotHaveIsRefused) {
  RandomRun random(8);
  const MeasuredBlock block = random.block(4, 2);
  Json json = block_to_json(block);
  EXPECT_EQ(message_of(json), "nothing was thrown");
  json["row"] = 4;
  EXPECT_THAT(message_of(json), HasSubstr("a row below 4"));
  json["row"] = 0;
  json["rank_times"]["rank"].push_back(2);
  EXPECT_THAT(message_of(json), HasSubstr("arrays of one length"));
  json["rank_times"] = rank_times_to_json({{0, 1, 1}, {1, 1, 1}});
  json["rank_times"]["page_faults"].push_back(2);
  EXPECT_THAT(message_of(json), HasSubstr("arrays of one length"));
  json["rank_times"].erase("page_faults");
  EXPECT_EQ(message_of(json), "nothing was thrown") << "as written by 0.1.0 before it counted them";
  json["rank_times"] = rank_times_to_json({{0, 1, 1}});
  EXPECT_THAT(message_of(json), HasSubstr("the times of 2 ranks"));
  json.erase("seconds");
  EXPECT_THAT(message_of(json), HasSubstr("run.stream:2: has no seconds"));
}

TEST(MeasuredBlockJson, ABlockHasOneProbeOrNone) {
  RandomRun random(9);
  MeasuredBlock block = random.block(4, 2);
  block.probe = MachineProbe{.round_trip_seconds = 121e-9, .steps_per_second = 5e8};
  Json json = block_to_json(block);
  EXPECT_EQ(json_line(json["probe"]), R"({"round_trip_seconds":[1.21e-07],"steps_per_second":[500000000.0],)"
                                      R"("read_bytes_per_second":[null],"stolen_share":[0.0]})");
  json["probe"]["stolen_share"].push_back(0);
  EXPECT_THAT(message_of(json), HasSubstr("arrays of one length"));
  json["probe"] = columns_to_json<MachineProbe>({{}, {}});
  EXPECT_THAT(message_of(json), HasSubstr("the figures of one probe"));
  json.erase("probe");
  EXPECT_EQ(message_of(json), "nothing was thrown") << "as written before there were probes";
}

TEST(MachineProbes, AStolenShareThatNoneCanBeIsNotKnown) {
  const Json json = columns_to_json<MachineProbe>(
      {{.stolen_share = -0.01}, {.stolen_share = -50}, {.stolen_share = 1.5}, {.stolen_share = 1}});
  const auto document = nlohmann::json::parse(json.dump());
  std::vector<double> shares;
  for (const MachineProbe& probe : probes_from_json(JsonReader(document, "run.json")))
    shares.push_back(probe.stolen_share);
  EXPECT_THAT(shares, ::testing::ElementsAre(0, 0, 0, 1));
}

TEST(RowSamples, ProbesOfSomePassesOnlyAreNone) {
  MeasuredBlock with;
  with.probe = MachineProbe{.round_trip_seconds = 1e-7};
  Measurement measurement;
  RowSamples samples;
  samples.add(with, 0);
  samples.summarize(measurement);
  EXPECT_EQ(measurement.pass_probes, std::vector{*with.probe});
  samples.add(MeasuredBlock{}, 1);
  samples.summarize(measurement);
  EXPECT_EQ(measurement.pass_probes, std::vector<MachineProbe>{});
}

using ::testing::ElementsAre;

MeasuredBlock block_of(double seconds, std::vector<float> samples = {1}) {
  MeasuredBlock block;
  block.seconds = seconds;
  block.iterations = 20;
  block.iterations_per_sample = 10;
  block.warmup_iterations = 2;
  block.samples = std::move(samples);
  return block;
}

Measurement measured(const std::vector<MeasuredBlock>& blocks, int launch_of_the_last = 0) {
  RowSamples row;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    row.add(blocks[i], i + 1 == blocks.size() ? launch_of_the_last : 0);
  }
  Measurement measurement;
  row.summarize(measurement);
  return measurement;
}

TEST(RowSamples, TheTimeIsTheMedianOfThePassesAndTheRestIsOverSamples) {
  std::vector<MeasuredBlock> blocks;
  for (const double pass : {4.0, 5.0, 6.0, 4.5, 5.5, 100.0}) blocks.push_back(block_of(pass, {3, 5}));
  const Measurement measurement = measured(blocks);
  EXPECT_DOUBLE_EQ(measurement.seconds, 5.25);
  ASSERT_TRUE(measurement.interval);
  EXPECT_DOUBLE_EQ(measurement.interval->low_seconds, 4);
  EXPECT_DOUBLE_EQ(measurement.interval->high_seconds, 100);
  EXPECT_FALSE(measurement.interval->over_launches);
  EXPECT_EQ(measurement.iterations, 120U);
  EXPECT_EQ(measurement.warmup_iterations, 12U);
  EXPECT_EQ(measurement.iterations_per_sample, 10U);
  EXPECT_EQ(measurement.samples, 12U);
  EXPECT_DOUBLE_EQ(measurement.minimum, 3);
  EXPECT_DOUBLE_EQ(measurement.mean, 4);
  EXPECT_DOUBLE_EQ(measurement.p99, 5);
  EXPECT_THAT(measurement.launch_passes, ElementsAre(6));
}

TEST(RowSamples, OfAnyNumberSoManyAreKeptAndTheirQuantilesAreThoseOfAll) {
  for (const std::size_t passes : {64U, 640U, 6400U}) {
    RowSamples row;
    for (std::size_t pass = 0; pass < passes; ++pass) {
      std::vector<float> samples;
      // Of 100 samples 97 take 1, two 5 and one 9; later passes take twice as long.
      for (std::size_t i = 0; i < 256; ++i) {
        const std::size_t kind = (pass * 256 + i) * 37 % 100;
        const float seconds = kind < 97 ? 1.0F : kind < 99 ? 5.0F : 9.0F;
        samples.push_back(pass < passes / 2 ? seconds : 2 * seconds);
      }
      row.add(block_of(1, samples), 0);
    }
    Measurement measurement;
    row.summarize(measurement);
    EXPECT_EQ(measurement.samples, kMaxRowSamples);
    EXPECT_NEAR(measurement.mean, (0.97 + 0.10 + 0.09) * 1.5, 0.05) << passes;
    EXPECT_EQ(measurement.p95, 2) << passes;
    EXPECT_EQ(measurement.p99, 10) << passes;
  }
}

TEST(RowSamples, SamplesOfTwoLengthsAreNotMixed) {
  MeasuredBlock disturbed = block_of(1, {9, 9, 9});
  disturbed.iterations_per_sample = 1;
  const Measurement measurement = measured({disturbed, block_of(1, {2, 2}), disturbed, block_of(1, {2})});
  EXPECT_EQ(measurement.iterations_per_sample, 10U);
  EXPECT_EQ(measurement.samples, 3U);
  EXPECT_DOUBLE_EQ(measurement.p99, 2);
  EXPECT_EQ(measurement.pass_seconds.size(), 4U) << "the passes all count";
}

TEST(RowSamples, WhatNcclSelectedOnceIsKeptForTheRow) {
  std::vector<MeasuredBlock> blocks(3, block_of(1));
  EXPECT_FALSE(measured(blocks).nccl);
  EXPECT_EQ(measured(blocks).algorithm_ran, "");
  blocks[0].nccl = NcclSelection{"ring", "ll", 4, {}};
  EXPECT_EQ(measured(blocks).nccl, blocks[0].nccl);
  EXPECT_EQ(measured(blocks).algorithm_ran, "ring/ll");
}

TEST(RowSamples, TheEnqueueTimeIsTheMedianOfTheBlocksThatTookIt) {
  std::vector<MeasuredBlock> blocks(4, block_of(1));
  EXPECT_FALSE(measured(blocks).enqueue_seconds);
  blocks[0].enqueue_seconds = 9;  // of an earlier launch
  blocks[2].enqueue_seconds = 3;
  blocks[3].enqueue_seconds = 2;
  EXPECT_EQ(measured(blocks, 1).enqueue_seconds, 3);
}

TEST(RowSamples, ARanksTimesAreTypicalOfItsBlocks) {
  std::vector<MeasuredBlock> blocks(3, block_of(1));
  const std::vector<double> medians{1, 2, 90};
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    blocks[i].ranks = {{.rank = 0, .median_seconds = 7, .p99_seconds = 8},
                       {.rank = 1, .median_seconds = medians[i], .p99_seconds = 2 * medians[i]}};
  }
  const Measurement measurement = measured(blocks);
  ASSERT_EQ(measurement.ranks.size(), 2U);
  EXPECT_EQ(measurement.ranks[1].rank, 1);
  EXPECT_DOUBLE_EQ(measurement.ranks[1].median_seconds, 2);
  EXPECT_DOUBLE_EQ(measurement.ranks[1].p99_seconds, 4);
}

TEST(RowSamples, PageFaultsAreTypicalOfTheBlocksThatCountedThem) {
  std::vector<MeasuredBlock> blocks(5, block_of(1));
  for (MeasuredBlock& block : blocks) block.ranks = {{0, 1, 1}, {1, 1, 1}};
  EXPECT_EQ(measured(blocks).ranks[0].page_faults, std::nullopt);
  blocks[3].ranks[0].page_faults = 4096;  // the others are of a launch before they were counted
  blocks[4].ranks[0].page_faults = 4098;
  EXPECT_EQ(measured(blocks).ranks[0].page_faults, 4097);
  EXPECT_EQ(measured(blocks).ranks[1].page_faults, std::nullopt);
  for (MeasuredBlock& block : blocks) block.ranks[0].core_wait_share = 0;
  blocks[1].ranks[0].core_wait_share = 0.5;  // a mean: a median would not see one disturbed block
  EXPECT_NEAR(measured(blocks).ranks[0].core_wait_share.value_or(0), 0.5 / static_cast<double>(blocks.size()),
              1e-12);
}

/// A block of a Step on two ranks.
MeasuredBlock step_block(double compute0, double compute1) {
  MeasuredBlock block = block_of(1);
  block.ranks = {
      {0, 1, 1, std::nullopt, std::nullopt, StepTimes{.compute_seconds = compute0, .inside_seconds = 1}},
      {1, 1, 1, std::nullopt, std::nullopt, StepTimes{.compute_seconds = compute1, .inside_seconds = 1}}};
  return block;
}

TEST(RowSamples, OfAStepMediansAndWhatThreeOfFourBlocksExceed) {
  const Measurement row = measured({step_block(4, 5), step_block(4, 7), step_block(4, 8), step_block(4, 6)});
  ASSERT_TRUE(row.ranks[1].step);
  EXPECT_DOUBLE_EQ(row.ranks[1].step->compute_seconds, 6.5);
  EXPECT_DOUBLE_EQ(row.ranks[1].step->compute_excess_seconds, 1);
  EXPECT_DOUBLE_EQ(row.ranks[0].step->compute_excess_seconds, -4);
  EXPECT_DOUBLE_EQ(row.ranks[0].step->between_excess_seconds, 0);
}

TEST(BlockJson, AStepHasColumnsOfItsOwn) {
  const MeasuredBlock block = step_block(4, 5);
  nlohmann::json document = nlohmann::json::parse(json_line(block_to_json(block)));
  EXPECT_EQ(block_from_json(JsonReader(document, "a"), 100, 2), block);
  document["rank_times"]["inside_seconds"].erase(1);
  EXPECT_THROW(static_cast<void>(block_from_json(JsonReader(document, "a"), 100, 2)), Error);
  EXPECT_FALSE(
      nlohmann::json::parse(json_line(block_to_json(block_of(1))))["rank_times"].contains("compute_seconds"));
}

TEST(RowSamples, WhatEveryCheckFoundAddsUpByRank) {
  std::vector<MeasuredBlock> blocks(3, block_of(1));
  for (MeasuredBlock& block : blocks) {
    block.wrong_elements = 3;
    block.wrong = {{.rank = 1, .host = "beta", .count = 3, .first_index = 7, .expected = "1", .got = "2"}};
  }
  const Measurement measurement = measured(blocks);
  EXPECT_EQ(measurement.wrong_elements, 9U);
  ASSERT_EQ(measurement.wrong.size(), 1U);
  EXPECT_EQ(measurement.wrong[0].count, 9U);
  EXPECT_EQ(measured({block_of(1)}).wrong_elements, std::nullopt)
      << "what is not checked is not called right";
}

TEST(RowSamples, APassKnowsItsLaunch) {
  EXPECT_THAT(measured({block_of(1), block_of(2), block_of(3)}, 1).launch_passes, ElementsAre(2, 1));
  EXPECT_THAT(measured({block_of(1)}, 4).launch_passes, ElementsAre(1));
}

TEST(RowSamples, NoIntervalFromFivePasses) {
  EXPECT_FALSE(measured(std::vector<MeasuredBlock>(5, block_of(1))).interval);
  EXPECT_TRUE(measured(std::vector<MeasuredBlock>(6, block_of(1))).interval);
}

TEST(RowSamples, NothingMeasuredIsNothingSaid) {
  const Measurement measurement = measured({});
  EXPECT_EQ(measurement.iterations, 0U);
  EXPECT_TRUE(measurement.ranks.empty());
}

}  // namespace

}  // namespace collbench::measured_block_test
