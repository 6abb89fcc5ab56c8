#include "launch/agreement.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

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

TEST(Agreement, OfTextsTheLowestRanksIsEverybodys) {
  run_rank_threads(3, [](Ranks& ranks) {
    std::vector<std::string> mine{"", "", ""};
    if (ranks.rank() >= 1) mine[1] = "not on host" + std::to_string(ranks.rank());
    if (ranks.rank() == 0) mine[2] = "nowhere";
    EXPECT_THAT(agreed_texts(ranks, mine), ::testing::ElementsAre("", "not on host1", "nowhere"));
  });
}

TEST(Agreement, RunningOutOfMemoryIsAUsageError) {
  run_rank_threads(2, [](Ranks& ranks) {
    EXPECT_THAT(heard(ranks, [] { throw std::bad_alloc(); }), HasSubstr("out of memory; give a smaller -e"));
  });
}

TEST(Agreement, WhatIsNoErrorIsABugOnAll) {
  run_rank_threads(3, [](Ranks& ranks) {
    try {
      agreed(ranks, "host" + std::to_string(ranks.rank()), [&] {
        if (ranks.rank() == 1) throw std::logic_error("a; b");
      });
      ADD_FAILURE() << "rank " << ranks.rank() << " did not hear of it";
    } catch (const AgreedError& error) {
      EXPECT_EQ(static_cast<int>(error.status()), 70);
      EXPECT_STREQ(error.what(), "rank 1 on host1: internal error: a; b");
      EXPECT_THAT(error.next_step(), HasSubstr("this is a bug in collbench"));
    }
  });
}

TEST(Agreement, ABugOnAllRanksIsSaidAsOneOfASingleProcess) {
  run_rank_threads(2, [](Ranks& ranks) {
    EXPECT_EQ(heard(ranks, [] { throw std::logic_error("odd"); }), describe(std::logic_error("odd")));
  });
}

TEST(Agreement, WhatRankZeroDoesAloneFailsOnAll) {
  run_rank_threads(3, [](Ranks& ranks) {
    try {
      agree_on_root(ranks, "host", [](OnRoot) { throw usage_error("-J", "no space", "free some"); });
      ADD_FAILURE() << "rank " << ranks.rank() << " did not hear of it";
    } catch (const AgreedError& error) {
      EXPECT_STREQ(error.what(), "rank 0 on host: no space");
    }
  });
}

TEST(Agreement, WhatRankZeroDoesAloneHasItsResultThere) {
  run_rank_threads(2, [](Ranks& ranks) {
    const std::optional<int> lines = agree_on_root(ranks, "host", [](OnRoot) { return 7; });
    EXPECT_EQ(lines, ranks.is_root() ? std::optional<int>(7) : std::nullopt);
  });
}

TEST(Agreement, ErrorsOfRankZeroAreKeptUntilAllCanAgree) {
  run_rank_threads(3, [](Ranks& ranks) {
    RootErrors errors;
    EXPECT_FALSE(errors.first());
    if (ranks.is_root()) {
      errors.attempt([](OnRoot) {});
      errors.keep(std::nullopt);
      errors.attempt([](OnRoot) { throw usage_error("--csv", "the first", "next"); });
      errors.attempt([](OnRoot) { throw usage_error("--csv", "the second", "next"); });
      EXPECT_STREQ(errors.first().value().what(), "the first");
    }
    ranks.barrier();  // nothing is thrown until here
    try {
      errors.agree(ranks, "host");
      ADD_FAILURE();
    } catch (const AgreedError& error) {
      EXPECT_STREQ(error.what(), "rank 0 on host: the first");
    }
  });
}

}  // namespace
}  // namespace collbench::launch::agreement_test
