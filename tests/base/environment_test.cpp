#include "base/environment.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

namespace collbench::environment_test {
namespace {

TEST(ChangeVariable, SetsReplacesAndRemovesTheOneOfThatName) {
  change_variable("COLLBENCH_TEST", "1");
  change_variable("COLLBENCH_TEST_2", "a=b");
  EXPECT_STREQ(std::getenv("COLLBENCH_TEST"), "1");
  change_variable("COLLBENCH_TEST", "");
  EXPECT_STREQ(std::getenv("COLLBENCH_TEST"), "");
  change_variable("COLLBENCH_TEST", std::nullopt);
  EXPECT_EQ(std::getenv("COLLBENCH_TEST"), nullptr);
  EXPECT_STREQ(std::getenv("COLLBENCH_TEST_2"), "a=b");
  ::setenv("COLLBENCH_TEST", "by the C library", 1);
  EXPECT_STREQ(std::getenv("COLLBENCH_TEST_2"), "a=b");
  change_variable("COLLBENCH_TEST_2", std::nullopt);
  EXPECT_STREQ(std::getenv("COLLBENCH_TEST"), "by the C library");
  ::unsetenv("COLLBENCH_TEST");
}

// setenv in place of it reads freed memory here, or misses a variable that is always there.
TEST(ChangeVariable, OthersReadMeanwhile) {
  ::setenv("COLLBENCH_LAST", "there", 1);
  std::atomic<bool> is_over = false;
  std::atomic<int> missed = 0;
  std::vector<std::thread> readers;
  for (int i = 0; i < 3; ++i) {
    readers.emplace_back([&] {
      while (!is_over)
        if (variable_value("COLLBENCH_LAST") != "there") ++missed;
    });
  }
  for (int i = 0; i < 2000; ++i) {
    change_variable("COLLBENCH_FIRST", std::to_string(i));
    change_variable("COLLBENCH_SECOND", "x");
    change_variable("COLLBENCH_FIRST", std::nullopt);
    change_variable("COLLBENCH_SECOND", std::nullopt);
  }
  is_over = true;
  for (std::thread& each : readers) each.join();
  EXPECT_EQ(missed, 0);
  ::unsetenv("COLLBENCH_LAST");
}

}  // namespace
}  // namespace collbench::environment_test
