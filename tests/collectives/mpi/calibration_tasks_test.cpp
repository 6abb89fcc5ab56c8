#include "collectives/mpi/calibration.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "tests/collectives/engine/step_backend.hpp"
#include "tests/launch/rank_threads.hpp"

namespace collbench::collectives::calibration_tasks_test {
namespace {

using ::testing::ElementsAre;

/// A curve whose points take what `block_seconds` says, in three blocks each while there is time.
class MadeUpMachine {
 public:
  explicit MadeUpMachine(std::function<double(std::uint64_t)> block_seconds)
      : block_seconds_(std::move(block_seconds)) {}

  MeasuredCalibration calibrate(double seconds, const std::vector<std::uint64_t>& sizes) {
    MeasuredCalibration result;
    launch::run_rank_threads(1, [&](launch::Ranks& ranks) {
      CalibrationBench bench{.ranks = ranks,
                             .before_point = nothing_,
                             .clock = clock_,
                             .simulated = false,
                             .start = clock_.seconds(),
                             .from = HostBuffer(0),
                             .to = HostBuffer(0)};
      std::vector<CalibrationTask> tasks;
      for (const std::uint64_t bytes : sizes) {
        tasks.push_back({.point = {.kind = CalibrationKind::copy, .bytes = bytes},
                         .measure = [this, bytes](CalibrationBench& at) { return measure(at, bytes); }});
      }
      spread_levels(tasks);
      result = run_calibration_tasks(bench, seconds, tasks);
    });
    return result;
  }

  [[nodiscard]] double spent() const { return clock_.now; }
  std::vector<std::uint64_t> measured;

 private:
  std::optional<double> measure(CalibrationBench& bench, std::uint64_t bytes) {
    measured.push_back(bytes);
    double shortest = 1e9;
    for (int block = 0; block < 3; ++block) {
      const double seconds = block_seconds_(bytes);
      clock_.now += seconds;
      bench.passed = clock_.now;
      shortest = std::min(shortest, seconds);
      if (bench.is_late()) break;
    }
    return shortest;
  }

  std::function<double(std::uint64_t)> block_seconds_;
  std::function<void()> nothing_ = [] {};
  StepClock clock_;
};

const std::vector<std::uint64_t> kSizes{1, 2, 4, 8, 16, 32, 64, 128, 256};

TEST(CalibrationTasks, OnAnIdleMachineAreAllMeasuredEndsFirst) {
  MadeUpMachine machine([](std::uint64_t bytes) { return 1e-3 * static_cast<double>(bytes); });
  const MeasuredCalibration result = machine.calibrate(100, kSizes);
  EXPECT_THAT(machine.measured, ElementsAre(1, 256, 16, 4, 64, 2, 8, 32, 128));
  ASSERT_EQ(result.points.size(), kSizes.size());
  EXPECT_EQ(result.wanted, kSizes.size());
  for (std::size_t i = 0; i < kSizes.size(); ++i) EXPECT_EQ(result.points[i].bytes, kSizes[i]) << "in order";
}

TEST(CalibrationTasks, TakeTheirTimeAndTwoBlocksMoreAtMostWhateverTheLoad) {
  for (unsigned seed = 1; seed < 300; ++seed) {
    std::minstd_rand random(seed);
    std::uniform_real_distribution<double> block(0, 1);
    double longest = 0;
    MadeUpMachine machine([&](std::uint64_t) {
      const double seconds = block(random) < 0.5 ? 1e-3 : block(random);
      longest = std::max(longest, seconds);
      return seconds;
    });
    const MeasuredCalibration result = machine.calibrate(2, kSizes);
    EXPECT_LE(machine.spent(), 2 + 2 * longest) << seed;
    EXPECT_EQ(result.points.front().bytes, 1U);
    EXPECT_EQ(result.points.back().bytes, 256U) << "both ends are there";
  }
}

TEST(CalibrationTasks, WhatWasDisturbedIsMeasuredAgain) {
  int calls = 0;
  MadeUpMachine machine([&](std::uint64_t bytes) {
    const bool disturbed = bytes == 16 && ++calls <= 3;  // its first three blocks
    return disturbed ? 5.0 : 1e-3 * static_cast<double>(bytes);
  });
  const MeasuredCalibration result = machine.calibrate(100, kSizes);
  EXPECT_DOUBLE_EQ(result.points[4].seconds, 16e-3);
  EXPECT_EQ(std::count(machine.measured.begin(), machine.measured.end(), 16U), 2);
}

TEST(CalibrationTasks, WhatWasDisturbedIsMeasuredAgainOnlyWhereThatFits) {
  MadeUpMachine machine(
      [](std::uint64_t bytes) { return bytes == 16 ? 0.9 : 1e-6 * static_cast<double>(bytes); });
  const MeasuredCalibration result = machine.calibrate(2, kSizes);
  EXPECT_THAT(disturbed_points(result.points), ElementsAre(4));
  EXPECT_LE(machine.spent(), 2) << "once to warm up and once for the clock would be 1.8 s more";
}

TEST(CalibrationTasks, ATenthOfTheTimeIsLeftForABlockThatTakesLonger) {
  MadeUpMachine machine([](std::uint64_t) { return 0.05; });
  const MeasuredCalibration result = machine.calibrate(2, kSizes);
  EXPECT_LE(machine.spent(), 2 * 0.9 + 0.05);
  EXPECT_EQ(result.points.back().bytes, 256U);
}

TEST(CalibrationTasks, WhatStaysOffIsGivenUpAfterSomeTries) {
  MadeUpMachine machine([](std::uint64_t bytes) { return bytes == 1 ? 1.0 : 1e-3; });
  const MeasuredCalibration result = machine.calibrate(100, kSizes);
  EXPECT_EQ(std::count(machine.measured.begin(), machine.measured.end(), 1U), 4);
  EXPECT_THAT(disturbed_points(result.points), ElementsAre(0));
}

}  // namespace
}  // namespace collbench::collectives::calibration_tasks_test
