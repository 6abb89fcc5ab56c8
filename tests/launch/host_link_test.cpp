#include "launch/host_link.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <thread>

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

}  // namespace
}  // namespace collbench::launch::host_link_test
