#include "launch/flight/flight_page.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>

namespace collbench::launch::flight_page_test {
namespace {

TEST(FlightPage, ACallIsInsideUntilItIsLeft) {
  CallCounter counter;
  {
    const CountedCall call(counter);
    EXPECT_EQ(counter.entered, 1U);
    EXPECT_EQ(counter.left, 0U);
  }
  EXPECT_EQ(counter.left, 1U);
}

TEST(FlightPage, AStepKnowsTheCallsBeforeIt) {
  FlightPage page;
  page.calls.enter();
  page.calls.leave();
  page.pass = 3;
  write_step(page, "AllReduce 8 B");
  const FlightStep step = read_step(page);
  EXPECT_EQ(step.name, "AllReduce 8 B");
  EXPECT_EQ(step.calls_before, 1U);
  EXPECT_EQ(step.pass, 3);
  EXPECT_EQ(page.steps, 1U);
}

TEST(FlightPage, ALongNameIsCutAndAShorterOneLeavesNothingOfIt) {
  FlightPage page;
  write_step(page, std::string(100, 'x'));
  EXPECT_EQ(read_step(page).name, std::string(64, 'x'));
  write_step(page, "short");
  EXPECT_EQ(read_step(page).name, "short");
}

TEST(FlightPage, AReaderNeverSeesHalfOfTwoSteps) {
  FlightPage page;
  std::atomic<bool> is_over = false;
  write_step(page, std::string(40, 'a'));
  std::thread writer([&] {
    for (int i = 0; i < 20'000; ++i) write_step(page, std::string(40, static_cast<char>('a' + i % 26)));
    is_over = true;
  });
  while (!is_over) {
    const FlightStep step = read_step(page);
    if (step.is_whole) {
      EXPECT_EQ(step.name, std::string(40, step.name.at(0)));
    }
  }
  writer.join();
}

}  // namespace
}  // namespace collbench::launch::flight_page_test
