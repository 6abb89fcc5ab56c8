#include "launch/watchdog.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <future>

namespace collbench::launch::watchdog_test {
namespace {

TEST(Watchdog, LooksAgainAndAgain) {
  std::promise<void> third;
  int looks = 0;
  const Watchdog watchdog(0.001, [&] {
    if (++looks == 3) third.set_value();
  });
  third.get_future().wait();
}

TEST(Watchdog, DoesNotLookOnceItIsOverAndWaitsForNoLook) {
  std::atomic<int> looks = 0;
  {
    const Watchdog watchdog(3600, [&] { ++looks; });
  }  // does not wait for the hour either
  EXPECT_EQ(looks, 0);
}

TEST(Watchdog, WithoutALookThereIsNone) { const Watchdog watchdog(0, {}); }

}  // namespace
}  // namespace collbench::launch::watchdog_test
