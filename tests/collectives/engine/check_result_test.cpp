#include "collectives/engine/row_state.hpp"

#include <gtest/gtest.h>

#include "tests/launch/rank_threads.hpp"

namespace collbench::collectives::check_result_test {
namespace {

const std::vector<std::string> kHosts{"alpha", "beta", "gamma"};

TEST(CheckResult, WhereNobodyFoundAnythingNothingIsWrong) {
  launch::run_rank_threads(3, [](launch::Ranks& ranks) {
    CheckResult result;
    result.add(std::nullopt);
    const MeasuredBlock block = result.gathered(ranks, kHosts);
    EXPECT_EQ(block.wrong_elements, 0U);
    EXPECT_TRUE(block.wrong.empty());
  });
}

TEST(CheckResult, CountsEveryCheckAndShowsTheFirst) {
  launch::run_rank_threads(3, [](launch::Ranks& ranks) {
    CheckResult result;
    if (ranks.rank() == 1) {
      result.add(Mismatch{.count = 3, .first_index = 7, .expected = "1", .got = "2"});
      result.add(Mismatch{.count = 2, .first_index = 5, .expected = "8", .got = "9"});
    }
    const MeasuredBlock block = result.gathered(ranks, kHosts);
    EXPECT_EQ(block.wrong_elements, 5U);
    ASSERT_EQ(block.wrong.size(), 1U);
    EXPECT_EQ(block.wrong[0],
              (WrongElements{
                  .rank = 1, .host = "beta", .count = 5, .first_index = 7, .expected = "1", .got = "2"}));
  });
}

}  // namespace
}  // namespace collbench::collectives::check_result_test
