#include "launch/collective_wait.hpp"

#include <gmock/gmock.h>

#include <atomic>
#include <mutex>
#include <optional>

#include "launch/agreement.hpp"
#include "tests/launch/rank_threads.hpp"

namespace collbench::launch::collective_wait_test {
namespace {

using ::testing::HasSubstr;

/// A millisecond passes with every look.
class StepClock : public Clock {
 public:
  [[nodiscard]] double seconds() const override { return 1e-3 * now_++; }

 private:
  mutable std::atomic<int> now_{0};
};

/// What the wait throws on each of three ranks.
std::vector<std::optional<Error>> errors_of(double limit_seconds, const std::function<void(int)>& begin,
                                            const std::function<bool(int)>& over) {
  std::vector<std::optional<Error>> errors(3);
  const StepClock clock;
  run_rank_threads(3, [&](Ranks& ranks) {
    CallCounter waits;
    const CollectiveWait waiter(ranks, "host", clock, limit_seconds, waits);
    try {
      waiter.wait("AllReduce", [&] { begin(ranks.rank()); }, [&] { return over(ranks.rank()); });
    } catch (const AgreedError& error) {
      errors[static_cast<std::size_t>(ranks.rank())] = error;
    }
  });
  return errors;
}

TEST(CollectiveWait, EndsWhenAllRanksAreOver) {
  std::atomic<int> asked{0};
  const auto errors = errors_of(10, [](int) {}, [&](int rank) { return rank != 1 || ++asked > 50; });
  for (const auto& error : errors) EXPECT_FALSE(error);
  EXPECT_GT(asked, 50);
}

TEST(CollectiveWait, NothingIsGatheredFromAllWhileAllGoesWell) {
  const StepClock clock;
  run_rank_threads(3, [&](Ranks& ranks) {
    CountingRanks counting(ranks);
    std::atomic<int> asked{0};
    CallCounter waits;
    CollectiveWait(counting, "host", clock, 10, waits).wait("AllReduce", [] {}, [&] { return ++asked > 50; });
    EXPECT_EQ(counting.gathered_by_all, 0);
    EXPECT_GT(counting.small, 0);
  });
}

TEST(CollectiveWait, AFailureOfOneRankEndsItOnAll) {
  const auto errors = errors_of(
      10, [](int) {},
      [](int rank) {
        if (rank == 1) throw Error(ExitStatus::rank_lost, "NCCL", "broken", "look");
        return false;  // would wait for rank 1 forever
      });
  for (const auto& error : errors) {
    ASSERT_TRUE(error);
    EXPECT_THAT(error->what(), HasSubstr("rank 1 on host: broken"));
  }
}

TEST(CollectiveWait, AFailureToBeginEndsItOnAll) {
  const auto errors = errors_of(
      10,
      [](int rank) {
        if (rank == 2) throw Error(ExitStatus::not_here, "NCCL", "no network", "look");
      },
      [](int) { return false; });
  for (const auto& error : errors) {
    ASSERT_TRUE(error);
    EXPECT_EQ(error->status(), ExitStatus::not_here);
  }
}

TEST(CollectiveWait, AfterTheLimitTheBusyRanksAreNamed) {
  const auto errors = errors_of(0.5, [](int) {}, [](int rank) { return rank == 0; });
  for (const auto& error : errors) {
    ASSERT_TRUE(error);
    EXPECT_EQ(error->status(), ExitStatus::rank_lost);
    EXPECT_EQ(error->where(), "AllReduce");
    EXPECT_THAT(error->what(), HasSubstr("timed out waiting for ranks 1 (host), 2 (host) after 500 ms"));
  }
}

TEST(CollectiveWait, AWatchdogHearsOfEachWaitBeforeItBegins) {
  const StepClock clock;
  run_rank_threads(2, [&](Ranks& ranks) {
    std::vector<std::string> order;
    CallCounter waits;
    const CollectiveWait waiter(ranks, "host", clock, 10, waits,
                                [&](const std::string& what) { order.push_back(what); });
    waiter.wait("the first", [&] { order.emplace_back("begins"); }, [] { return true; });
    waiter.wait("the second", [] {}, [] { return true; });
    EXPECT_THAT(order, testing::ElementsAre("the first", "begins", "the second"));
  });
}

TEST(CollectiveWait, WhatComesFurtherOnAnyRankIsNotLateAndTheWatchdogHearsOfIt) {
  std::vector<std::optional<Error>> errors(3);
  std::vector<int> heard(3);
  const StepClock clock;
  run_rank_threads(3, [&](Ranks& ranks) {
    const auto at = static_cast<std::size_t>(ranks.rank());
    std::size_t looks = 0;
    CallCounter waits;
    const CollectiveWait waiter(ranks, "host", clock, 0.4, waits, {}, [&] { ++heard[at]; });
    try {
      // 1 s on the clock that all share, in which rank 1 comes further; then nobody does.
      waiter.wait(
          "AllReduce", [] {}, [] { return false; },
          [&] { return ranks.rank() == 1 && clock.seconds() < 1 ? ++looks : looks; });
    } catch (const AgreedError& error) {
      errors[at] = error;
    }
  });
  EXPECT_GT(clock.seconds(), 1);
  for (const auto& error : errors) {
    ASSERT_TRUE(error);
    EXPECT_THAT(error->what(), HasSubstr("after 400 ms"));
  }
  EXPECT_EQ(heard[0], 0);
  EXPECT_GT(heard[1], 1);
}

TEST(CollectiveWait, WithoutALimitItWaits) {
  std::atomic<int> asked{0};
  const auto errors = errors_of(0, [](int) {}, [&](int) { return ++asked > 2000; });
  for (const auto& error : errors) EXPECT_FALSE(error);
}

}  // namespace
}  // namespace collbench::launch::collective_wait_test
