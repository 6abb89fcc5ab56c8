#include "launch/interruption.hpp"

#include <gtest/gtest.h>

#include <csignal>

namespace collbench::launch::interruption_test {
namespace {

TEST(InterruptionDeathTest, TheFirstSignalIsNoticedAndTheSecondEnds) {
  EXPECT_FALSE(interrupted());
  notice_interruption();
  std::raise(SIGTERM);
  EXPECT_TRUE(interrupted());
  EXPECT_EXIT(std::raise(SIGTERM), ::testing::KilledBySignal(SIGTERM), "");
}

}  // namespace
}  // namespace collbench::launch::interruption_test
