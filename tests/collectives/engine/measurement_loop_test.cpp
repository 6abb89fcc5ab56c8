#include "collectives/engine/measurement_loop.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <mutex>

#include "base/error.hpp"
#include "tests/collectives/engine/step_backend.hpp"
#include "tests/launch/rank_threads.hpp"

namespace collbench::collectives::measurement_loop_test {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::Ge;
using ::testing::HasSubstr;
using ::testing::Le;
using ::testing::Pair;

TEST(MeasurementLoop, PassesAreInterleavedOverRowsWithFreshBuffersInEach) {
  launch::run_rank_threads(3, [](launch::Ranks& ranks) {
    StepBackend backend({});
    const MeasurementResult result =
        run_measurement_loop(ranks, backend, {row_of(8), row_of(64)}, kHosts, quick(), {});
    EXPECT_THAT(backend.visited, ElementsAre(8, 64, 8, 64, 8, 64));
    EXPECT_EQ(result.passes, 3);
    ASSERT_EQ(backend.allocated.size(), 3U);
    EXPECT_EQ(backend.allocated[0].send, 64U);
    EXPECT_EQ(backend.allocated[0].receive, 128U);
    EXPECT_GE(backend.renewed, 1);
  });
}

TEST(MeasurementLoop, BuffersOutliveTheCommunicatorsThatHoldThem) {
  using Order = std::vector<std::string>;
  const Order first{"buffers", "communicator"};
  const Order anew{"end of communicators", "buffers", "communicator"};
  const auto passes = [](std::initializer_list<Order> each) {
    Order all;
    for (const Order& pass : each) all.insert(all.end(), pass.begin(), pass.end());
    return all;
  };
  launch::run_rank_threads(2, [&](launch::Ranks& ranks) {
    for (const bool holds : {false, true}) {
      StepBackend cheap({.holds_buffers = holds});
      static_cast<void>(run_measurement_loop(ranks, cheap, {row_of(8), row_of(64)}, kHosts, quick(), {}));
      EXPECT_EQ(cheap.order, passes({first, anew, anew}));
      StepBackend dear({.holds_buffers = holds, .communicator_seconds = 1});
      static_cast<void>(run_measurement_loop(ranks, dear, {row_of(8), row_of(64)}, kHosts, quick(), {}));
      const Order kept{holds ? "kept" : "buffers"};
      EXPECT_EQ(dear.order, passes({first, kept, kept}));
    }
  });
}

TEST(MeasurementLoop, TheTimeIsTheSlowestRanksAndEveryRankKeepsItsOwn) {
  launch::run_rank_threads(3, [](launch::Ranks& ranks) {
    StepBackend backend(
        {.slowness = 1.0 + ranks.rank(), .page_faults = 10U * static_cast<unsigned>(ranks.rank())});
    const MeasurementResult result = run_measurement_loop(ranks, backend, {row_of(8)}, kHosts, quick(), {});
    const Measurement& row = result.rows.at(0);
    EXPECT_NEAR(row.seconds, 3e-3, 1e-9);
    EXPECT_EQ(row.pass_seconds.size(), 3U);
    EXPECT_EQ(row.iterations, 12U);
    EXPECT_EQ(row.stopped, (Stop{StopReason::pass_limit, 3}));
    if (!ranks.is_root()) return;
    ASSERT_EQ(row.ranks.size(), 3U);
    EXPECT_NEAR(row.ranks[0].median_seconds, 1e-3, 1e-9);
    EXPECT_NEAR(row.ranks[2].p99_seconds, 3e-3, 1e-9);
    EXPECT_EQ(row.ranks[0].page_faults, 0);
    EXPECT_EQ(row.ranks[2].page_faults, 20) << "per call";
  });
}

TEST(MeasurementLoop, EveryRankHearsWhichRowRuns) {
  launch::run_rank_threads(2, [](launch::Ranks& ranks) {
    StepBackend backend({});
    std::vector<std::optional<std::size_t>> heard;
    MeasurementObserver observer;
    observer.running = [&](std::optional<std::size_t> row) { heard.push_back(row); };
    MeasurementLoopOptions options = quick();
    options.stopping.passes = Precision{.max_passes = 1};
    static_cast<void>(run_measurement_loop(ranks, backend, {row_of(8), row_of(16, "nowhere"), row_of(64)},
                                           kHosts, options, observer));
    EXPECT_THAT(heard, ElementsAre(0U, std::nullopt, 2U, std::nullopt));
  });
}

TEST(MeasurementLoop, TheEnqueueTimeIsTakenWhereItIsAskedFor) {
  launch::run_rank_threads(2, [](launch::Ranks& ranks) {
    StepBackend backend({.slowness = 1.0 + ranks.rank()});
    MeasurementLoopOptions options = quick();
    EXPECT_EQ(
        run_measurement_loop(ranks, backend, {row_of(8)}, kHosts, options, {}).rows.at(0).enqueue_seconds,
        std::nullopt);
    options.enqueue_time = true;
    EXPECT_EQ(
        run_measurement_loop(ranks, backend, {row_of(8)}, kHosts, options, {}).rows.at(0).enqueue_seconds,
        2e-6)
        << "the slower rank's, as the time";
  });
}

TEST(MeasurementLoop, TheReductionOverRanksIsTheOneAskedFor) {
  for (const auto& [how, expected] :
       {std::pair(launch::RankAggregate::rank0, 1e-3), std::pair(launch::RankAggregate::average, 2e-3),
        std::pair(launch::RankAggregate::minimum, 1e-3), std::pair(launch::RankAggregate::maximum, 3e-3)}) {
    launch::run_rank_threads(3, [&](launch::Ranks& ranks) {
      StepBackend backend({.slowness = 1.0 + ranks.rank()});
      MeasurementLoopOptions options = quick();
      options.across_ranks = how;
      EXPECT_NEAR(run_measurement_loop(ranks, backend, {row_of(8)}, kHosts, options, {}).rows.at(0).seconds,
                  expected, 1e-9);
    });
  }
}

TEST(MeasurementLoop, WrongDataNameTheRankAndTheHost) {
  launch::run_rank_threads(3, [](launch::Ranks& ranks) {
    StepBackend backend({.slowness = 1, .wrong = ranks.rank() == 1});
    const Measurement row = run_measurement_loop(ranks, backend, {row_of(8)}, kHosts, quick(), {}).rows.at(0);
    ASSERT_TRUE(row.wrong_elements);
    ASSERT_EQ(row.wrong.size(), 1U);
    EXPECT_EQ(row.wrong[0].rank, 1);
    EXPECT_EQ(row.wrong[0].host, "beta");
    EXPECT_EQ(row.wrong[0].first_index, 7U);
    EXPECT_EQ(row.wrong[0].count, *row.wrong_elements);
  });
}

TEST(MeasurementLoop, WhatIsNotCheckedIsNotCalledRight) {
  launch::run_rank_threads(1, [](launch::Ranks& ranks) {
    StepBackend backend({.slowness = 1, .wrong = true});
    MeasurementLoopOptions options = quick();
    options.checks = 0;
    EXPECT_EQ(
        run_measurement_loop(ranks, backend, {row_of(8)}, kHosts, options, {}).rows.at(0).wrong_elements,
        std::nullopt);
  });
}

TEST(MeasurementLoop, ARowThatCannotRunSaysWhyAndTheOthersRun) {
  launch::run_rank_threads(2, [](launch::Ranks& ranks) {
    StepBackend backend({});
    const auto rows =
        run_measurement_loop(ranks, backend, {row_of(8, "nowhere"), row_of(8)}, kHosts, quick(), {}).rows;
    EXPECT_EQ(rows.at(0).unavailable, "not on this machine");
    EXPECT_TRUE(rows.at(0).pass_seconds.empty());
    EXPECT_EQ(rows.at(1).pass_seconds.size(), 3U);
  });
}

TEST(MeasurementLoop, ARowIsDoneWhenItIsPreciseAndItsTimeGoesToTheOthers) {
  launch::run_rank_threads(2, [](launch::Ranks& ranks) {
    StepBackend backend({});
    const MeasurementResult result = run_measurement_loop(ranks, backend, {row_of(8)}, kHosts, {}, {});
    EXPECT_EQ(result.passes, 8);
    EXPECT_EQ(result.rows.at(0).stopped, Stop{StopReason::precision_reached});
    EXPECT_TRUE(result.rows.at(0).interval);
  });
}

TEST(MeasurementLoop, WhatGoesOnWhateverItsPrecisionMayHaveItAtTheEnd) {
  launch::run_rank_threads(2, [](launch::Ranks& ranks) {
    StepBackend backend({});
    MeasurementLoopOptions options;
    options.stopping.passes = Endless{};
    options.seconds = 0.5;
    const MeasurementResult result = run_measurement_loop(ranks, backend, {row_of(8)}, kHosts, options, {});
    EXPECT_GT(result.passes, 8);
    EXPECT_EQ(result.rows.at(0).stopped, Stop{StopReason::precision_reached});
  });
}

TEST(MeasurementLoop, TimeRunsOutButTheFirstPassIsFinished) {
  launch::run_rank_threads(2, [](launch::Ranks& ranks) {
    StepBackend backend({});
    MeasurementLoopOptions options;
    options.seconds = 1e-6;
    const MeasurementResult result =
        run_measurement_loop(ranks, backend, {row_of(8), row_of(64)}, kHosts, options, {});
    EXPECT_EQ(result.passes, 1);
    for (const Measurement& row : result.rows) {
      EXPECT_EQ(row.pass_seconds.size(), 1U);
      EXPECT_EQ(row.stopped, Stop{StopReason::out_of_time});
    }
  });
}

TEST(MeasurementLoop, ItEndsWhenNoRowFitsIntoTheTimeLeft) {
  launch::run_rank_threads(2, [](launch::Ranks& ranks) {
    StepBackend backend({});  // whose clock stands still where nothing runs
    MeasurementLoopOptions options = quick();
    options.stopping.passes = Precision{.max_passes = 1000};
    options.stopping.precision = -1;
    options.seconds = 0.5;
    const MeasurementResult result =
        run_measurement_loop(ranks, backend, {row_of(8), row_of(64)}, kHosts, options, {});
    std::size_t most = 0;
    for (const Measurement& row : result.rows) {
      EXPECT_EQ(row.stopped, Stop{StopReason::out_of_time});
      most = std::max(most, row.pass_seconds.size());
    }
    EXPECT_EQ(result.passes, static_cast<int>(most)) << "passes in which nothing ran do not count";
  });
}

TEST(MeasurementLoop, MemoryThatOneRankLacksIsAnErrorOnAll) {
  launch::run_rank_threads(3, [](launch::Ranks& ranks) {
    StepBackend backend({.slowness = 1, .wrong = false, .out_of_memory = ranks.rank() == 2});
    try {
      static_cast<void>(run_measurement_loop(ranks, backend, {row_of(8)}, kHosts, quick(), {}));
      ADD_FAILURE() << "nothing was thrown";
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), HasSubstr("rank 2 on gamma: out of memory"));
    }
  });
}

TEST(MeasurementLoop, ThereIsACheckpointAfterEveryPass) {
  launch::run_rank_threads(2, [](launch::Ranks& ranks) {
    StepBackend backend({});
    std::vector<std::pair<int, std::size_t>> seen;  // pass, passes of the row
    MeasurementObserver observer;
    observer.checkpoint = [&](const std::vector<Measurement>& rows, int passes) {
      seen.emplace_back(passes, rows.at(0).pass_seconds.size());
    };
    static_cast<void>(run_measurement_loop(ranks, backend, {row_of(8)}, kHosts, quick(), observer));
    if (ranks.is_root()) {
      EXPECT_THAT(seen, ElementsAre(Pair(1, 1U), Pair(2, 2U), Pair(3, 3U)));
    } else {
      EXPECT_TRUE(seen.empty());
    }
  });
}

TEST(MeasurementLoop, InTheFirstPassThereIsACheckpointAfterEveryRow) {
  launch::run_rank_threads(2, [](launch::Ranks& ranks) {
    StepBackend backend({});
    std::vector<std::pair<int, int>> seen;  // passes, rows that were measured
    MeasurementObserver observer;
    observer.checkpoint = [&](const std::vector<Measurement>& rows, int passes) {
      const auto measured =
          std::count_if(rows.begin(), rows.end(), [](const Measurement& row) { return row.seconds > 0; });
      seen.emplace_back(passes, static_cast<int>(measured));
    };
    MeasurementLoopOptions options = quick();
    options.stopping.passes = Precision{.max_passes = 2};
    static_cast<void>(run_measurement_loop(ranks, backend, {row_of(8), row_of(64), row_of(512)}, kHosts,
                                           options, observer));
    if (ranks.is_root()) {
      EXPECT_THAT(seen, ElementsAre(Pair(0, 1), Pair(0, 2), Pair(1, 3), Pair(2, 3)));
    }
  });
}

TEST(MeasurementLoop, CheckpointsThatTakeLongAreATwentiethOfTheTime) {
  launch::run_rank_threads(2, [](launch::Ranks& ranks) {
    StepBackend backend({});
    std::vector<int> seen;
    MeasurementObserver observer;
    observer.checkpoint = [&](const auto& /*rows*/, int passes) {
      seen.push_back(passes);
      backend.let_time_pass(0.010);  // and a pass takes 4 ms, so that 200 ms are 50 passes
    };
    MeasurementLoopOptions options = quick();
    options.checks = 0;
    options.stopping.passes = FixedPasses{101};
    EXPECT_EQ(run_measurement_loop(ranks, backend, {row_of(8)}, kHosts, options, observer).passes, 101);
    if (ranks.is_root()) {
      EXPECT_THAT(seen, ElementsAre(1, AllOf(Ge(40), Le(55)), AllOf(Ge(80), Le(101))));
    }
  });
}

TEST(MeasurementLoop, WhatFailsBetweenPassesLosesNone) {
  launch::run_rank_threads(2, [](launch::Ranks& ranks) {
    StepBackend backend({});
    int passes = 0;
    int kept = 0;
    MeasurementObserver observer;
    observer.checkpoint = [&](const auto& /*rows*/, int finished) {
      kept = finished;
      backend.let_time_pass(1);  // too long for another one soon
    };
    observer.between_passes = [&] {
      if (++passes == 2) throw Error(ExitStatus::rank_lost, "a rank", "is gone", "look for it");
    };
    EXPECT_THROW(
        static_cast<void>(run_measurement_loop(ranks, backend, {row_of(8)}, kHosts, quick(), observer)),
        Error);
    EXPECT_EQ(kept, ranks.is_root() ? 2 : 0);
  });
}

TEST(MeasurementLoop, RanksThatKnowOfDifferentTimesStillDoTheSame) {
  launch::run_rank_threads(3, [](launch::Ranks& ranks) {
    StepBackend backend({.slowness = 1.0 + ranks.rank()});
    MeasurementLoopOptions options;
    // Pilots of 1 ms are long enough for rank 0 and too short for the others, or the other way round.
    options.seconds = ranks.rank() == 0 ? 0.2 : 40;
    options.stopping.passes = Precision{.max_passes = 2};
    const MeasurementResult result =
        run_measurement_loop(ranks, backend, {row_of(8), row_of(64)}, kHosts, options, {});
    EXPECT_EQ(result.passes, 2);
  });
}

TEST(MeasurementLoop, WhatOneRankCannotRunNobodyRuns) {
  launch::run_rank_threads(3, [](launch::Ranks& ranks) {
    StepBackend backend({.lacks_elsewhere = ranks.rank() == 1});
    const MeasurementResult result =
        run_measurement_loop(ranks, backend, {row_of(8, "elsewhere"), row_of(64)}, kHosts, quick(), {});
    EXPECT_EQ(result.rows.at(0).unavailable, "not on this host");
    EXPECT_THAT(backend.visited, ElementsAre(64));
  });
}

TEST(MeasurementLoop, ARowStopsByThePassesInTheCommonestStateOfTheMachine) {
  launch::run_rank_threads(2, [](launch::Ranks& ranks) {
    StepBackend backend({.two_states = true});
    MeasurementLoopOptions options = quick();
    options.stopping = {};
    const MeasurementResult result =
        run_measurement_loop(ranks, backend, {row_of(8), row_of(64)}, kHosts, options, {});
    EXPECT_EQ(result.passes, 15) << "eight of them in the first of two states that take turns";
    EXPECT_EQ(result.rows.at(0).stopped, Stop{StopReason::precision_reached});
  });
}

TEST(MeasurementLoop, NoRankHearsOfEveryOtherWhereNothingIsWrong) {
  launch::run_rank_threads(3, [](launch::Ranks& threads) {
    launch::CountingRanks ranks(threads);
    StepBackend backend({});
    MeasurementLoopOptions options = quick();
    options.stopping.passes = Precision{.max_passes = 1};
    static_cast<void>(run_measurement_loop(ranks, backend, {row_of(8), row_of(64)}, kHosts, options, {}));
    EXPECT_EQ(ranks.gathered_by_all, 0);
    const int one_pass = ranks.small;
    options.stopping.passes = Precision{.max_passes = 3};
    static_cast<void>(run_measurement_loop(ranks, backend, {row_of(8), row_of(64)}, kHosts, options, {}));
    // The later passes: the order of each block, what its checks found, its times; and 4 of a pass.
    EXPECT_LE(ranks.small - 2 * one_pass, 2 * (2 * 3 + 4));
  });
}

TEST(MeasurementLoop, EveryCheckOfARowCounts) {
  launch::run_rank_threads(2, [](launch::Ranks& ranks) {
    StepBackend backend({.wrong = ranks.rank() == 1});
    MeasurementLoopOptions options = quick();
    options.checks = 3;
    options.stopping.passes = Precision{.max_passes = 1};
    EXPECT_EQ(
        run_measurement_loop(ranks, backend, {row_of(8)}, kHosts, options, {}).rows.at(0).wrong_elements, 9U);
  });
}

TEST(MeasurementLoop, EveryBlockIsReportedAsItEnds) {
  launch::run_rank_threads(2, [](launch::Ranks& ranks) {
    StepBackend backend({.slowness = 1.0 + ranks.rank()});
    LaunchBlocks blocks;
    MeasurementObserver observer;
    observer.block = [&](const MeasuredBlock& block) { blocks.push_back(block); };
    static_cast<void>(
        run_measurement_loop(ranks, backend, {row_of(8), row_of(64)}, kHosts, quick(), observer));
    if (!ranks.is_root()) {
      EXPECT_TRUE(blocks.empty());
      return;
    }
    ASSERT_EQ(blocks.size(), 6U);
    EXPECT_EQ(blocks[3].row, 1U);
    EXPECT_EQ(blocks[3].pass, 1);
    EXPECT_EQ(blocks[3].iterations, 4U);
    EXPECT_NEAR(blocks[3].seconds, 2e-3, 1e-9);
    ASSERT_EQ(blocks[3].ranks.size(), 2U);
    EXPECT_NEAR(blocks[3].ranks[0].median_seconds, 1e-3, 1e-9);
    EXPECT_EQ(blocks[0].wrong_elements, 0U);
  });
}

TEST(MeasurementLoop, WhatEarlierLaunchesMeasuredIsNotMeasuredAgain) {
  launch::run_rank_threads(2, [](launch::Ranks& ranks) {
    MeasurementLoopOptions options = quick();
    if (ranks.is_root()) {
      MeasuredBlock block;
      block.seconds = 1e-3;
      block.iterations = 4;
      block.samples = {1e-3F};
      options.earlier.resize(2);
      options.earlier[0] = {block, block};  // two of row 0's three passes
      options.earlier[1] = {block};         // and the third
      block.row = 1;
      options.earlier[1].push_back(block);  // one of row 1's
    }
    StepBackend backend({});
    const MeasurementResult result =
        run_measurement_loop(ranks, backend, {row_of(8), row_of(64)}, kHosts, options, {});
    EXPECT_THAT(backend.visited, ElementsAre(64));
    EXPECT_EQ(result.passes, 2);
    if (!ranks.is_root()) return;
    EXPECT_THAT(result.rows[0].launch_passes, ElementsAre(2, 1));
    EXPECT_EQ(result.rows[0].stopped, (Stop{StopReason::pass_limit, 3}));
    EXPECT_THAT(result.rows[1].launch_passes, ElementsAre(1, 2));
    EXPECT_EQ(result.rows[1].iterations, 12U);
  });
}

}  // namespace
}  // namespace collbench::collectives::measurement_loop_test
