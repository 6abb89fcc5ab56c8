#include "tools/probe/processor/processor_probe.hpp"

#include <gtest/gtest.h>
#include <sched.h>

#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <fstream>
#include <thread>

#include "base/error.hpp"
#include "launch/real_machine.hpp"
#include "tests/sanitizers.hpp"

namespace collbench::collectives::core_team_test {
namespace {

/// A second passes with each look.
class CountingClock : public Clock {
 public:
  [[nodiscard]] double seconds() const override { return static_cast<double>(looks_++); }

 private:
  mutable std::atomic<int> looks_ = 0;
};

std::vector<ProbeCore> own_cores() {
  std::vector<ProbeCore> cores;
  for (const int cpu : launch::view_machine().allowed_cores) cores.push_back({cpu, 0});
  return cores;
}

TEST(CoreTeam, WindowsHoldWhatWasDoneInThemAndNothingOfTheWarmUp) {
  const CountingClock clock;
  int calls = 0;
  const auto rates = run_on_cores({own_cores().front()}, clock, {2, 4, 3}, [&](std::size_t) {
    return [&calls] { return ++calls <= 2 ? 1000.0 : 5.0; };  // a piece a second, two to warm up
  });
  ASSERT_EQ(rates.size(), 1U);
  EXPECT_EQ(rates[0].windows, (std::vector<double>{5, 5, 5}));
  EXPECT_EQ(calls, 2 + 3 * 4);
}

TEST(CoreTeam, EachThreadRunsOnItsCore) {
  const CountingClock clock;
  const std::vector<ProbeCore> cores = own_cores();
  std::vector<std::atomic<int>> ran_on(cores.size());
  const auto rates = run_on_cores(cores, clock, {0, 1, 1}, [&](std::size_t core) {
    return [&ran_on, core] {
      ran_on[core] = sched_getcpu();
      return 1.0;
    };
  });
  ASSERT_EQ(rates.size(), cores.size());
  for (std::size_t core = 0; core < cores.size(); ++core) EXPECT_EQ(ran_on[core], cores[core].cpu);
}

TEST(CoreTeam, AThreadThatDidNotRunAllTheTimeIsKnown) {
  const CountingClock clock;
  const auto rates = run_on_cores({own_cores().front()}, clock, {0, 1, 1}, [](std::size_t) {
    return [] {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      return 1.0;
    };
  });
  EXPECT_LT(rates.at(0).cpu_share, 0.9);
  EXPECT_GE(rates.at(0).cpu_share, 0);
}

// A sanitizer reserves address space of its own, and ends the process where it gets none.
#if !defined(COLLBENCH_ADDRESS_SANITIZER) && !defined(COLLBENCH_THREAD_SANITIZER)
/// In a process with little room for threads' stacks: ends with 7 where all ended with the right error, by
/// SIGALRM where those that were made waited for ever.
void run_out_of_threads() {
  alarm(20);
  std::uint64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  constexpr std::uint64_t kStack = 8 << 20;
  rlimit limit{};
  limit.rlim_cur = limit.rlim_max = pages * static_cast<std::uint64_t>(getpagesize()) + 4 * kStack;
  if (setrlimit(RLIMIT_AS, &limit) != 0) _exit(1);
  const std::vector<ProbeCore> cores(64, own_cores().front());
  try {
    (void)run_on_cores(cores, CountingClock(), {0, 1, 1}, [](std::size_t) { return [] { return 1.0; }; });
  } catch (const Error& error) {
    _exit(std::string(error.what()).find("no thread for it, after ") != std::string::npos ? 7 : 2);
  }
  _exit(3);
}

TEST(CoreTeam, TooFewThreadsAreAnErrorAndNoEndlessWait) {
  EXPECT_EXIT(run_out_of_threads(), testing::ExitedWithCode(7), "");
}
#endif

TEST(CoreTeam, WhatFailsOnOneCoreEndsAll) {
  const CountingClock clock;
  std::vector<ProbeCore> cores = own_cores();
  cores.push_back({1'000'000, 0});
  const auto idle = [](std::size_t) { return [] { return 1.0; }; };
  EXPECT_THROW((void)run_on_cores(cores, clock, {0, 1, 1}, idle), Error);
  const auto none = [](std::size_t) -> CoreWork { throw std::bad_alloc(); };
  EXPECT_THROW((void)run_on_cores({own_cores().front()}, clock, {0, 1, 1}, none), std::bad_alloc);
}

}  // namespace
}  // namespace collbench::collectives::core_team_test
