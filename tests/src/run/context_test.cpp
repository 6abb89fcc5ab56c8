#include "src/run/context.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/launch/rank_threads.hpp"

namespace collbench::program::context_test {
namespace {

std::size_t weights_for(std::vector<OperationId> operations) {
  RunOptions options;
  options.request.operations = std::move(operations);
  std::size_t weights = 0;
  launch::run_rank_threads(
      1, [&](launch::Ranks& ranks) { weights = find_traffic(options, "host", ranks).weights.size(); });
  return weights;
}

// On 10,000 ranks it is 800 MB on each.
TEST(FindTraffic, OfAllPairsIsThereOnlyWhereAnAllToAllVIs) {
  EXPECT_EQ(weights_for({OperationId::all_reduce, OperationId::all_to_all}), 0U);
  EXPECT_EQ(weights_for({OperationId::all_reduce, OperationId::all_to_all_v}), 1U);
}

}  // namespace
}  // namespace collbench::program::context_test
