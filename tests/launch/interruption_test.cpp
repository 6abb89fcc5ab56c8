#include "launch/interruption.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <thread>

namespace collbench::launch::interruption_test {
namespace {

/// The death test's own process, so that each test begins without a signal.
template <class Deed>
void expect_to_live(const Deed& deed, const char* signal) {
  EXPECT_EXIT(
      {
        if (interrupted() || !interrupting_signal().empty()) std::_Exit(1);
        notice_interruption();
        deed();
        std::_Exit(interrupted() && interrupting_signal() == signal ? 0 : 2);
      },
      ::testing::ExitedWithCode(0), "")
      << signal;
}

template <class Deed>
void expect_to_end(const Deed& deed, int signal) {
  EXPECT_EXIT(
      {
        notice_interruption();
        deed();
        std::_Exit(0);
      },
      ::testing::KilledBySignal(signal), "");
}

TEST(InterruptionDeathTest, EachSignalThatOrdersAnEndIsNoticed) {
  expect_to_live([] { std::raise(SIGINT); }, "SIGINT");
  expect_to_live([] { std::raise(SIGTERM); }, "SIGTERM");
  expect_to_live([] { std::raise(SIGHUP); }, "SIGHUP");
  expect_to_live([] { std::raise(SIGUSR1); }, "SIGUSR1");
  expect_to_live([] { std::raise(SIGUSR2); }, "SIGUSR2");
}

TEST(InterruptionDeathTest, EachMarksAtOnceWhatIsThere) {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2}) {
    for (const bool comes_before : {false, true}) {
      for (const bool is_taken_back : {false, true}) {
        EXPECT_EXIT(
            {
              std::atomic<std::uint8_t> mark = 0;
              notice_interruption();
              if (comes_before) std::raise(signal);
              mark_interruption(&mark);
              if (is_taken_back) mark_interruption(nullptr);
              if (!comes_before) std::raise(signal);
              std::_Exit(mark == (comes_before || !is_taken_back) ? 0 : 2);
            },
            ::testing::ExitedWithCode(0), "")
            << signal << comes_before << is_taken_back;
      }
    }
  }
}

TEST(InterruptionDeathTest, ASecondOrderEnds) {
  const auto twice = [](int signal) {
    std::raise(signal);
    std::this_thread::sleep_for(std::chrono::milliseconds(350));
    std::raise(signal);
  };
  expect_to_end([&] { twice(SIGTERM); }, SIGTERM);
  expect_to_end([&] { twice(SIGHUP); }, SIGHUP);
  expect_to_end([] { std::raise(SIGINT), std::raise(SIGINT); }, SIGINT);
}

// A batch system announces the end of a job by one of these, and orders it later.
TEST(InterruptionDeathTest, AWarningIsNoOrder) {
  const auto warning = [](int signal) {
    std::raise(signal);
    std::raise(signal);
    std::raise(SIGTERM);
  };
  expect_to_live([&] { warning(SIGUSR1); }, "SIGUSR1");
  expect_to_live([&] { warning(SIGUSR2); }, "SIGUSR2");
}

// Slurm does it when the time of a job is over.
TEST(Interruption, AnOrderThatComesTwiceAtOnceIsOneOrder) {
  EXPECT_TRUE(is_same_order(SIGTERM, 0));
  EXPECT_TRUE(is_same_order(SIGHUP, 299));
  EXPECT_FALSE(is_same_order(SIGTERM, 300));
  EXPECT_FALSE(is_same_order(SIGINT, 0)) << "a person who presses Ctrl-C twice means it";
}

TEST(InterruptionDeathTest, WhatNohupIgnoresStaysIgnored) {
  EXPECT_EXIT(
      {
        std::signal(SIGHUP, SIG_IGN);
        notice_interruption();
        std::raise(SIGHUP);
        std::_Exit(interrupted() ? 1 : 0);
      },
      ::testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace collbench::launch::interruption_test
