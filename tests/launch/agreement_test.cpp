#include "launch/agreement.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/launch/rank_threads.hpp"

namespace collbench::launch::agreement_test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

/// What `ranks.rank()` hears when `work` runs on every rank.
std::string heard(Ranks& ranks, const std::function<void()>& work) {
  try {
    agreed(ranks, "host" + std::to_string(ranks.rank()), work);
  } catch (const Error& error) {
    return describe(error);
  }
  return "fine";
}

TEST(Agreement, NobodyFailsNobodyHears) {
  run_rank_threads(3, [](Ranks& ranks) { EXPECT_EQ(heard(ranks, [] {}), "fine"); });
}

TEST(Agreement, OneFailureIsHeardByAllWithItsRankAndHost) {
  run_rank_threads(4, [](Ranks& ranks) {
    const std::string line = heard(ranks, [&] {
      if (ranks.rank() == 2) throw usage_error("-e", "too much", "give less");
    });
    EXPECT_EQ(line, "collbench: -e: rank 2 on host2: too much; give less");
  });
}

TEST(Agreement, ManyFailuresAreCountedAndTheLowestRankSpeaks) {
  run_rank_threads(4, [](Ranks& ranks) {
    const std::string line = heard(ranks, [&] {
      if (ranks.rank() != 0) throw usage_error("", "rank " + std::to_string(ranks.rank()) + " failed", "");
    });
    EXPECT_THAT(line, AllOf(HasSubstr("rank 1 failed"), HasSubstr("and 2 more of 4 ranks")));
  });
}

TEST(Agreement, WhatFailsEverywhereIsSaidAsItIs) {
  run_rank_threads(3, [](Ranks& ranks) {
    EXPECT_EQ(heard(ranks, [] { throw usage_error("-b", "no", "yes"); }), "collbench: -b: no; yes");
  });
}

TEST(Agreement, RunningOutOfMemoryIsAUsageError) {
  run_rank_threads(2, [](Ranks& ranks) {
    EXPECT_THAT(heard(ranks, [] { throw std::bad_alloc(); }), HasSubstr("out of memory; give a smaller -e"));
  });
}

}  // namespace
}  // namespace collbench::launch::agreement_test
