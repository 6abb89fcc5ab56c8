#include "launch/host_link.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "launch/hosts/launch_address.hpp"
#include "tests/launch/rank_threads.hpp"

namespace collbench::launch::host_link_test {
namespace {

constexpr int kTimeoutLooks = 1000;

Identities on_nodes(int first, int second) {
  return {{.rank = 0, .host = "a", .node = first, .local_rank = 0},
          {.rank = 1, .host = "b", .node = second, .local_rank = first == second ? 1 : 0}};
}

TEST(HostLink, ASingleHostHasNone) {
  run_rank_threads(2, [](Ranks& ranks) {
    const JoinedHosts joined = join_hosts(ranks, on_nodes(0, 0), kTimeoutLooks);
    EXPECT_EQ(joined.link, nullptr);
    EXPECT_EQ(joined.obstacle, "");
  });
}

TEST(HostLink, WhatOneHostReportsAnotherKnows) {
  if (!launch_address()) GTEST_SKIP() << "this machine has no network";
  std::atomic<bool> is_known = false;
  run_rank_threads(2, [&](Ranks& ranks) {
    const JoinedHosts joined = join_hosts(ranks, on_nodes(0, 1), kTimeoutLooks);
    ASSERT_NE(joined.link, nullptr);
    HostWatch& watch = joined.link->watch();
    RankActivity own;
    own.rank = ranks.rank();
    while (!is_known) {
      watch.report({own});
      std::this_thread::yield();
      if (ranks.is_root() && !watch.ranks_elsewhere().empty()) is_known = true;
    }
    ranks.barrier();
    EXPECT_EQ(watch.view().decides, ranks.is_root());
  });
}

TEST(HostLink, RanksThatAreAloneOnTheirHostsAndBeginAtOnceAreNoCrowd) {
  constexpr const char* kHere = "127.0.0.1";
  const std::string secret(kRandomWordLength, 'a');
  Identities alone;
  for (int rank = 0; rank < 128; ++rank)
    alone.push_back({.rank = rank, .host = std::to_string(rank), .node = rank, .local_rank = 0});
  std::atomic<int> crowded = 0;
  HostLink link(alone, 0, kTimeoutLooks, secret);
  const auto port = link.network().listen(
      kHere, {.answer = [](std::string_view) { return "answer"; }, .crowded = [&] { ++crowded; }});
  std::vector<std::unique_ptr<Heartbeat>> heartbeats;
  for (int rank = 1; rank < 128; ++rank)
    heartbeats.push_back(std::make_unique<Heartbeat>(NetworkAddress{kHere, port.value_or(0)}, secret));
  std::promise<bool> answered;
  HostNetwork client(secret, {.seconds = 600});
  client.ask({{kHere, port.value_or(0)}}, "question",
             [&](const auto& answer) { answered.set_value(answer.has_value()); });
  EXPECT_TRUE(answered.get_future().get()) << "those before it were let in";
  EXPECT_EQ(crowded, 0);
}

}  // namespace
}  // namespace collbench::launch::host_link_test
