#include "collectives/nccl/call_issuer.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.hpp"
#include "base/error.hpp"

namespace collbench::collectives::call_issuer_test {
namespace {

constexpr int kRanks = 3;

/// Whose events are over, or never are.
CudaLibrary cuda_without_gpu(bool is_over) {
  CudaLibrary cuda;
  cuda.stream_create = [](CudaStreamHandle*, unsigned int) { return CudaResult::success; };
  cuda.stream_destroy = [](CudaStreamHandle) { return CudaResult::success; };
  cuda.event_create = [](CudaEventHandle*) { return CudaResult::success; };
  cuda.event_destroy = [](CudaEventHandle) { return CudaResult::success; };
  cuda.event_record = [](CudaEventHandle, CudaStreamHandle) { return CudaResult::success; };
  cuda.event_query = is_over ? [](CudaEventHandle) { return CudaResult::success; }
                             : [](CudaEventHandle) { return CudaResult::not_ready; };
  return cuda;
}

/// The ranks of a thread, each of which makes `calls` calls; what happens stands in `log`, in its order.
class Thread {
 public:
  explicit Thread(bool is_over = true) : cuda_(cuda_without_gpu(is_over)) {}

  /// Rank `failing` throws at its second call, or behind it. By rank: "all" or "not all", or what it threw.
  std::vector<std::string> run(int calls, std::optional<int> failing = {}, bool fails_behind = false) {
    std::vector<std::string> came(kRanks);
    std::vector<std::thread> threads;
    for (int rank = 0; rank < kRanks; ++rank)
      threads.emplace_back([&, rank] {
        came[static_cast<std::size_t>(rank)] = run_rank(rank, calls, rank == failing, fails_behind);
      });
    for (std::thread& each : threads) each.join();
    return came;
  }

  std::string log;
  std::vector<std::thread::id> issued_by;
  std::function<void()> at_group_end = [] {};
  std::function<void()> look = [] {};
  double begin_seconds = 10;

 private:
  std::string run_rank(int rank, int calls, bool fails, bool fails_behind) {
    const CudaStream stream(cuda_);
    LaunchPace pace(cuda_);
    int left = calls;
    const auto at_second = [&](bool here) {
      if (fails && here && left == calls - (fails_behind ? 2 : 1))
        throw Error(ExitStatus::rank_lost, "", "rank " + std::to_string(rank), "");
    };
    const CallQueue queue{.next = [&]() -> std::uint64_t {
                            if (left == 0) return 0;
                            at_second(!fails_behind);
                            --left;
                            log += std::to_string(rank);
                            issued_by.push_back(std::this_thread::get_id());
                            return 1;
                          },
                          .behind =
                              [&] {
                                log += static_cast<char>('a' + rank);
                                at_second(fails_behind);
                              }};
    const CallIssuer::Means means{.clock = clock_,
                                  .grouped =
                                      [&](const std::function<void()>& issue) {
                                        log += '(';
                                        issue();
                                        at_group_end();
                                        log += ')';
                                      },
                                  .look = look};
    try {
      issuer_.begin(rank, queue, pace, stream, means, begin_seconds);
      bool all = issuer_.go_on(rank, means, 10);
      while (!all && begin_seconds == 0)
        all = issuer_.go_on(rank, means, 10);  // its queue is in use until then
      return all ? "all" : "not all";
    } catch (const Error& error) {
      return error.what();
    }
  }

  CudaLibrary cuda_;
  SteadySeconds clock_;
  CallIssuer issuer_{kRanks};
};

TEST(CallIssuer, OneThreadPutsTheCallsOfAllRanksEachAsAGroup) {
  Thread thread;
  for (int round = 0; round < 50; ++round) {
    thread.log.clear();
    thread.issued_by.clear();
    EXPECT_EQ(thread.run(2), std::vector<std::string>(kRanks, "all"));
    EXPECT_EQ(thread.log, "(012)abc(012)abc()");
    for (const std::thread::id each : thread.issued_by) EXPECT_EQ(each, thread.issued_by.front());
  }
}

TEST(CallIssuer, WhatFailsIsTheFailureOfItsRankAndNothingMoreIsPut) {
  Thread thread;
  EXPECT_EQ(thread.run(3, 1), (std::vector<std::string>{"not all", "rank 1", "not all"}));
  EXPECT_EQ(thread.log, "(012)abc(0");
  thread.log.clear();
  EXPECT_EQ(thread.run(3, 2, true), (std::vector<std::string>{"not all", "not all", "rank 2"}));
  EXPECT_EQ(thread.log, "(012)abc(012)abc");
  EXPECT_EQ(thread.run(3, 0), (std::vector<std::string>{"rank 0", "not all", "not all"}));
  EXPECT_EQ(thread.run(3), std::vector<std::string>(kRanks, "all"));
}

TEST(CallIssuer, WhatIsNotPutInTimeIsPutWhenTheFirstGoesOn) {
  Thread thread;
  thread.begin_seconds = 0;
  EXPECT_EQ(thread.run(2).front(), "all");
  EXPECT_EQ(thread.log, "(012)abc(012)abc()");
}

// A stream takes 1,024 launches; behind a peer that is stuck the next call would never return.
TEST(CallIssuer, NothingIsPutOnFullStreamsAndNcclIsAskedForErrors) {
  Thread thread(false);
  int looks = 0;
  thread.look = [&looks] {
    if (++looks == 3) throw Error(ExitStatus::rank_lost, "", "asked", "");
  };
  EXPECT_EQ(thread.run(2000), (std::vector<std::string>{"asked", "not all", "not all"}));
  EXPECT_EQ(thread.issued_by.size(), 768U * kRanks);
}

TEST(CallIssuer, TheEndOfAGroupIsTheFirstRanks) {
  Thread thread;
  thread.at_group_end = [] { throw Error(ExitStatus::rank_lost, "", "ncclGroupEnd", ""); };
  EXPECT_EQ(thread.run(1), (std::vector<std::string>{"ncclGroupEnd", "not all", "not all"}));
}

}  // namespace
}  // namespace collbench::collectives::call_issuer_test
