#include "collectives/engine/row_state.hpp"

#include <gtest/gtest.h>

#include <iterator>

#include "collectives/engine/measurement_loop.hpp"
#include "tests/collectives/engine/step_backend.hpp"
#include "tests/launch/rank_threads.hpp"

namespace collbench::collectives::rank_report_test {
namespace {

TEST(RankReport, AnInterruptionOnRank0EndsItForAllWithWhatThereIs) {
  launch::run_rank_threads(3, [](launch::Ranks& ranks) {
    StepBackend backend({});
    int asked = 0;
    MeasurementObserver observer;
    observer.interrupted = [&] { return ++asked == 7; };  // in the second pass, before its second row
    const MeasurementResult result =
        run_measurement_loop(ranks, backend, {row_of(8), row_of(64)}, kHosts, quick(), observer);
    EXPECT_TRUE(result.interrupted);
    EXPECT_EQ(result.passes, 1);
    EXPECT_EQ(result.rows.at(0).pass_seconds.size(), 2U);
    EXPECT_EQ(result.rows.at(1).pass_seconds.size(), 1U);
    EXPECT_EQ(result.rows.at(1).stopped, Stop{StopReason::interrupted});
  });
}

TEST(RankReport, AnInterruptionOfAnotherRankEndsItForAllAfterTheBlock) {
  launch::run_rank_threads(3, [](launch::Ranks& ranks) {
    StepBackend backend({});
    int asked = 0;
    MeasurementObserver observer;
    observer.interrupted = [&] {
      return ++asked == 3 && ranks.rank() == 1;
    };  // after the second pass's first block
    const MeasurementResult result =
        run_measurement_loop(ranks, backend, {row_of(8), row_of(64)}, kHosts, quick(), observer);
    EXPECT_TRUE(result.interrupted);
    EXPECT_EQ(result.rows.at(0).pass_seconds.size(), 2U);
    EXPECT_EQ(result.rows.at(1).pass_seconds.size(), 1U);
  });
}

TEST(RankReport, AnInterruptionAfterTheLastBlockFindsACompleteRun) {
  launch::run_rank_threads(2, [](launch::Ranks& ranks) {
    const std::vector<RowKey> rows{row_of(8), row_of(64)};
    LaunchBlocks blocks;
    MeasurementObserver observer;
    observer.block = [&](const MeasuredBlock& block) { blocks.push_back(block); };
    StepBackend backend({});
    static_cast<void>(run_measurement_loop(ranks, backend, rows, kHosts, quick(), observer));
    // Resumed with the second row done, and the first one short of a block.
    if (ranks.is_root()) blocks.erase(std::prev(blocks.end(), 2));
    MeasurementLoopOptions options = quick();
    if (ranks.is_root()) options.earlier = {blocks};
    bool has_run = false;
    observer.block = [&](const MeasuredBlock&) { has_run = true; };
    observer.interrupted = [&] { return has_run; };
    const MeasurementResult result = run_measurement_loop(ranks, backend, rows, kHosts, options, observer);
    EXPECT_FALSE(result.interrupted);
    if (!ranks.is_root()) return;
    EXPECT_TRUE(has_run);
    EXPECT_EQ(result.rows.at(0).pass_seconds.size(), 3U);
    EXPECT_EQ(result.rows.at(1).pass_seconds.size(), 3U);
  });
}

}  // namespace
}  // namespace collbench::collectives::rank_report_test
