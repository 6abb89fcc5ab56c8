#include "launch/thread_session.hpp"

#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "tests/launch/rank_threads.hpp"

namespace collbench::launch {
namespace {

constexpr int kProcesses = 2;
constexpr int kThreads = 3;
constexpr int kRanks = kProcesses * kThreads;

/// The session of a "process", which is a thread of this test, and of which one thread alone may use it.
class ProcessSession : public Session {
 public:
  explicit ProcessSession(Ranks& ranks) : ranks_(ranks), alone_(1) {}
  [[nodiscard]] Ranks& ranks() const override { return ranks_; }
  [[nodiscard]] std::unique_ptr<Ranks> ranks_of(int /*group*/) const override {
    return std::make_unique<RankThreads::Member>(alone_, 0);
  }
  [[nodiscard]] const Clock& clock() const override { return clock_; }
  [[nodiscard]] std::string host() const override { return "host" + std::to_string(ranks_.rank()); }
  [[nodiscard]] int shared_memory_leader() const override { return ranks_.rank(); }
  [[nodiscard]] bool has_mpi() const override { return true; }
  [[nodiscard]] std::string library() const override { return "a library"; }
  [[noreturn]] void abort(int status) const override { std::_Exit(status); }

 private:
  Ranks& ranks_;
  mutable RankThreads alone_;
  SteadySeconds clock_;
};

/// Runs `work` on all ranks.
void run_ranks(const std::function<void(Session&)>& work) {
  run_rank_threads(kProcesses, [&](Ranks& processes) {
    const ProcessSession process(processes);
    ThreadSessions sessions(process, kThreads);
    std::array<CallCounter, kThreads> exchanges{};
    std::vector<std::thread> others;
    const auto run = [&](int thread) {
      const auto session = sessions.session(thread, exchanges[static_cast<std::size_t>(thread)]);
      work(*session);
    };
    for (int thread = 1; thread < kThreads; ++thread) others.emplace_back(run, thread);
    run(0);
    for (std::thread& each : others) each.join();
    for (const CallCounter& each : exchanges) EXPECT_EQ(each.entered.load(), each.left.load());
  });
}

TEST(ThreadSession, ThreadsAreRanksInTheOrderOfTheirProcesses) {
  std::mutex mutex;
  std::vector<int> seen;
  run_ranks([&](Session& session) {
    EXPECT_EQ(session.ranks().size(), kRanks);
    EXPECT_EQ(session.host(), "host" + std::to_string(session.ranks().rank() / kThreads));
    EXPECT_FALSE(session.has_mpi());
    EXPECT_EQ(session.shared_memory_leader(), session.ranks().rank() / kThreads * kThreads);
    const std::lock_guard lock(mutex);
    seen.push_back(session.ranks().rank());
  });
  std::ranges::sort(seen);
  EXPECT_EQ(seen, (std::vector{0, 1, 2, 3, 4, 5}));
}

TEST(ThreadSession, GathersOfAllRanks) {
  run_ranks([](Session& session) {
    Ranks& ranks = session.ranks();
    for (int round = 0; round < 100; ++round) {  // what one round leaves is not the next one's
      const auto all = all_gather_values(ranks, 10 * round + ranks.rank());
      for (int rank = 0; rank < kRanks; ++rank)
        EXPECT_EQ(all.at(static_cast<std::size_t>(rank)), 10 * round + rank);
      const auto on_root = gather_values(ranks, ranks.rank());
      EXPECT_EQ(on_root, ranks.is_root() ? std::vector({0, 1, 2, 3, 4, 5}) : std::vector<int>());
    }
  });
}

TEST(ThreadSession, BroadcastsOfAnyRank) {
  run_ranks([](Session& session) {
    Ranks& ranks = session.ranks();
    for (int root = 0; root < kRanks; ++root)
      EXPECT_EQ(broadcast_value(ranks, ranks.rank() == root ? 100 + root : -1, root), 100 + root);
  });
}

TEST(ThreadSession, ReducesOverAllRanks) {
  run_ranks([](Session& session) {
    Ranks& ranks = session.ranks();
    const auto reduced = [&](RankAggregate how) {
      std::array<double, 2> values{static_cast<double>(ranks.rank()), 1 + 2.0 * ranks.rank()};
      ranks.reduce(values, how);
      EXPECT_EQ(values[1], 1 + 2 * values[0]);
      return values[0];
    };
    EXPECT_EQ(reduced(RankAggregate::minimum), 0);
    EXPECT_EQ(reduced(RankAggregate::maximum), 5);
    EXPECT_EQ(reduced(RankAggregate::average), 2.5);
    EXPECT_EQ(reduced(RankAggregate::rank0), 0);
  });
}

TEST(ThreadSession, AGroupHasTheThreadsOfItsProcesses) {
  run_ranks([](Session& session) {
    const int process = session.ranks().rank() / kThreads;
    for (int round = 0; round < 2; ++round) {
      const auto group = session.ranks_of(process);
      EXPECT_EQ(group->size(), kThreads);
      EXPECT_EQ(group->rank(), session.ranks().rank() % kThreads);
      EXPECT_EQ(all_gather_values(*group, group->rank()), (std::vector{0, 1, 2}));
    }
  });
}

}  // namespace
}  // namespace collbench::launch
