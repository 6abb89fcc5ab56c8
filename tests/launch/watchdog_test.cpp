#include "launch/watchdog.hpp"

#include <gmock/gmock.h>

#include <future>

namespace collbench::launch::watchdog_test {
namespace {

TEST(Watchdog, NamesTheStepThatTakesTooLong) {
  std::promise<std::string> stalled;
  Watchdog watchdog(0.02, [&](const std::string& step) { stalled.set_value(step); });
  watchdog.step("the first");
  watchdog.step("the second");
  EXPECT_EQ(stalled.get_future().get(), "the second");
}

TEST(Watchdog, SaysNothingOnceItIsOver) {
  bool said = false;
  {
    Watchdog watchdog(3600, [&](const std::string&) { said = true; });
    watchdog.step("short");
  }  // does not wait for the hour either
  EXPECT_FALSE(said);
}

TEST(Watchdog, EachStepHasTheWholeTime) {
  std::promise<std::string> stalled;
  auto future = stalled.get_future();
  Watchdog watchdog(0.5, [&](const std::string& step) { stalled.set_value(step); });
  // Two seconds in steps that are far shorter than the limit; then one that never ends.
  for (int i = 0; i < 40; ++i) {
    watchdog.step("short");
    EXPECT_EQ(future.wait_for(std::chrono::milliseconds(50)), std::future_status::timeout);
  }
  watchdog.step("endless");
  EXPECT_EQ(future.get(), "endless");
}

TEST(Watchdog, AStepWithoutLimitTakesAnyTimeAndTheNextHasOneAgain) {
  std::promise<std::string> stalled;
  auto future = stalled.get_future();
  Watchdog watchdog(0.5, [&](const std::string& step) { stalled.set_value(step); });
  watchdog.step_without_limit("as many iterations as asked");
  EXPECT_EQ(future.wait_for(std::chrono::milliseconds(1500)), std::future_status::timeout);
  watchdog.step("short");
  EXPECT_EQ(future.get(), "short");
}

TEST(Watchdog, ZeroSecondsAreNoLimit) {
  bool said = false;
  Watchdog watchdog(0, [&](const std::string&) { said = true; });
  watchdog.step("anything");
  EXPECT_FALSE(said);
}

}  // namespace
}  // namespace collbench::launch::watchdog_test
