#include "collectives/engine/block_timer.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace collbench::collectives::block_timer_test {
namespace {

using ::testing::DoubleEq;
using ::testing::ElementsAre;

TEST(BlockTimer, SamplesAddUpToTheElapsedTime) {
  double time = 100;
  int calls = 0;
  const Block block = time_block([&] { return time; }, 7, 3, [&] { time += ++calls; });
  EXPECT_EQ(calls, 7);
  EXPECT_DOUBLE_EQ(block.elapsed_seconds, 28);
  EXPECT_THAT(block.samples,
              ElementsAre(DoubleEq(2), DoubleEq(5), DoubleEq(7)));  // the last one is of one iteration
}

TEST(BlockTimer, NoIterationIsNoTime) {
  const Block block = time_block([] { return 1.0; }, 0, 0, [] {});  // a warm-up of none
  EXPECT_EQ(block.elapsed_seconds, 0);
  EXPECT_TRUE(block.samples.empty());
}

}  // namespace
}  // namespace collbench::collectives::block_timer_test
