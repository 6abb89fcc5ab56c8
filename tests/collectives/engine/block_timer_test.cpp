#include "collectives/engine/block_timer.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace collbench::collectives::block_timer_test {
namespace {

using ::testing::DoubleEq;
using ::testing::ElementsAre;
using ::testing::SizeIs;

TEST(BlockTimer, SamplesAddUpToTheElapsedTime) {
  double time = 100;
  int calls = 0;
  const Block block = time_block([&] { return time; }, 7, 3, [&] { time += ++calls; });
  EXPECT_EQ(calls, 7);
  EXPECT_DOUBLE_EQ(block.elapsed_seconds, 28);
  EXPECT_THAT(block.samples,
              ElementsAre(DoubleEq(2), DoubleEq(5), DoubleEq(7)));  // the last one is of one iteration
}

TEST(BlockSpans, AreOneForEachSampleWhileThereIsRoom) {
  EXPECT_THAT(block_spans(7, 3), ElementsAre(BlockSpan{3}, BlockSpan{3}, BlockSpan{1}));
  EXPECT_EQ(block_spans(kMaxBlockSamples, 1).size(), kMaxBlockSamples);
}

TEST(BlockSpans, OfAnyLengthKeepSoManySamplesOfTheSameLengthFromAllOverTheBlock) {
  for (const std::uint64_t iterations : {257UL * 8, 511UL * 8 + 3, 100'003UL, 1'000'000'000UL}) {
    std::uint64_t total = 0;
    std::vector<std::uint64_t> starts;
    for (const BlockSpan& span : block_spans(iterations, 8)) {
      EXPECT_GT(span.iterations, 0U);
      if (span.is_sample) {
        EXPECT_EQ(span.iterations, 8U);
        starts.push_back(total);
      }
      total += span.iterations;
    }
    EXPECT_EQ(total, iterations);
    ASSERT_EQ(starts.size(), kMaxBlockSamples);
    for (std::size_t part = 0; part < starts.size(); ++part) {
      EXPECT_LE(starts[part], (part + 1) * iterations / kMaxBlockSamples);
      EXPECT_GE(starts[part] + 16, part * iterations / kMaxBlockSamples);
    }
  }
}

TEST(BlockTimer, WhatIsBetweenTheSamplesThatAreKeptIsInTheElapsedTimeAlone) {
  double time = 0;
  int calls = 0;
  const Block block =
      time_block([&] { return time; }, 100'000, 8, [&] { time += ++calls % 1000 == 0 ? 100 : 1; });
  EXPECT_EQ(calls, 100'000);
  EXPECT_DOUBLE_EQ(block.elapsed_seconds, 100'000 + 100 * 99);
  EXPECT_EQ(block.samples.size(), kMaxBlockSamples);
}

TEST(BlockTimer, IsAskedNowAndThenWhetherItGoesOnWithTheClockStopped) {
  double time = 0;
  std::vector<std::uint64_t> asked_after;
  std::uint64_t calls = 0;
  const auto call = [&] {
    ++calls;
    time += 1;
  };
  const auto goes_on = [&](std::size_t times) {
    return [&, times] {
      asked_after.push_back(calls);
      time += 1000;
      return asked_after.size() < times;
    };
  };
  const Block whole = time_block([&] { return time; }, 20'000, 8, call, goes_on(100));
  EXPECT_EQ(whole.iterations, 20'000U);
  EXPECT_DOUBLE_EQ(whole.elapsed_seconds, 20'000);
  ASSERT_EQ(asked_after.size(), 4U);
  EXPECT_GE(asked_after[0], kCallsBetweenQuestions);
  EXPECT_LE(asked_after[3], 4 * (kCallsBetweenQuestions + 160));

  asked_after.clear();
  calls = 0;
  const Block ended = time_block([&] { return time; }, 20'000, 8, call, goes_on(2));
  EXPECT_EQ(ended.iterations, asked_after.at(1));
  EXPECT_EQ(calls, ended.iterations);
  EXPECT_DOUBLE_EQ(ended.elapsed_seconds, static_cast<double>(ended.iterations));
}

TEST(TimeSlices, AreOneWhereNobodyAsks) {
  std::vector<std::size_t> slices;
  const auto time = [&](std::span<const BlockSpan> slice) {
    slices.push_back(slice.size());
    return std::vector<double>(slice.size(), 2.0);
  };
  const std::vector<BlockSpan> spans(10, BlockSpan{kCallsBetweenQuestions});
  EXPECT_THAT(time_slices(spans, {}, time), SizeIs(10));
  EXPECT_THAT(slices, ElementsAre(10));
}

TEST(TimeSlices, EndWhenTheBlockDoes) {
  std::vector<std::size_t> slices;
  const auto time = [&](std::span<const BlockSpan> slice) {
    slices.push_back(slice.size());
    return std::vector<double>(slice.size(), 2.0);
  };
  const std::vector<BlockSpan> spans(100, BlockSpan{kCallsBetweenQuestions / 3});
  int asked = 0;
  const std::vector<double> seconds = time_slices(spans, [&] { return ++asked < 3; }, time);
  EXPECT_THAT(slices, ElementsAre(4, 4, 4));  // 4 × 1,365 calls are the first to be enough
  EXPECT_THAT(seconds, SizeIs(12));
  EXPECT_EQ(iterations_of(spans, seconds.size()), 12 * (kCallsBetweenQuestions / 3));
  asked = -1000;
  EXPECT_THAT(time_slices(spans, [&] { return ++asked < 3; }, time), SizeIs(100));
}

TEST(SliceSpans, AreOfWholeSamplesAndHoldTheBlock) {
  EXPECT_THAT(slice_spans(4000, 7), ElementsAre(BlockSpan{4000}));  // as short blocks always were
  EXPECT_THAT(slice_spans(10'000, 1000), ElementsAre(BlockSpan{5000}, BlockSpan{5000}));
  EXPECT_THAT(slice_spans(9000, 1), ElementsAre(BlockSpan{4096}, BlockSpan{4096}, BlockSpan{808}));
}

TEST(BlockTimer, NoIterationIsNoTime) {
  const Block block = time_block([] { return 1.0; }, 0, 0, [] {});  // a warm-up of none
  EXPECT_EQ(block.elapsed_seconds, 0);
  EXPECT_TRUE(block.samples.empty());
}

}  // namespace
}  // namespace collbench::collectives::block_timer_test
