#include "launch/flight/process_stat.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "base/files.hpp"

namespace collbench::launch::process_stat_test {
namespace {

TEST(ProcessStat, TheNameMayHoldBlanksAndBrackets) {
  const auto stat = process_stat("7 (a) b) (c) S 41 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 12345 20");
  ASSERT_TRUE(stat);
  EXPECT_EQ(stat->name, "a) b) (c");
  EXPECT_EQ(stat->state, 'S');
  EXPECT_EQ(stat->parent, 41);
  EXPECT_EQ(stat->start_ticks, 12345U);
}

TEST(ProcessStat, ALineThatIsCutSaysNothing) {
  for (const char* line : {"", "7", "7 (cut", "7 ) S 1 (", "7 (cut) S 1", "7 (cut) S",
                           "7 (a) S 41 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18"}) {
    EXPECT_FALSE(process_stat(line)) << line;
  }
}

TEST(ProcessStat, OfThisProcess) {
  const auto stat = process_stat(first_line("/proc/self/stat"));
  ASSERT_TRUE(stat);
  EXPECT_EQ(stat->name, "launch_tests");
  EXPECT_EQ(stat->parent, ::getppid());
  EXPECT_GT(stat->start_ticks, 0U);
}

TEST(ProcessState, IsOfOneProcessAndNoLaterOneOfItsPid) {
  const pid_t child = ::fork();
  if (child == 0) {
    for (;;) ::pause();
  }
  const auto stat = process_stat(child);
  ASSERT_TRUE(stat);
  const auto state = [&] { return process_state(child, stat->start_ticks); };
  EXPECT_EQ(state(), ProcessState::running);
  EXPECT_EQ(process_state(child, stat->start_ticks + 1), ProcessState::gone);
  ::kill(child, SIGSTOP);
  ::waitpid(child, nullptr, WUNTRACED);
  EXPECT_EQ(state(), ProcessState::stopped);
  ::kill(child, SIGKILL);
  siginfo_t ended{};
  ::waitid(P_PID, static_cast<id_t>(child), &ended, WEXITED | WNOWAIT);
  EXPECT_EQ(state(), ProcessState::gone) << "a zombie";
  ::waitpid(child, nullptr, 0);
  EXPECT_EQ(state(), ProcessState::gone);
}

TEST(ProcessState, WhatCannotBeLookedAtIsNotGone) {
  const auto stat = process_stat(::getpid());
  ASSERT_TRUE(stat);
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit none{.rlim_cur = 0, .rlim_max = before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  const ProcessState state = process_state(::getpid(), stat->start_ticks);
  ::setrlimit(RLIMIT_NOFILE, &before);
  EXPECT_EQ(state, ProcessState::unknown);
}

}  // namespace
}  // namespace collbench::launch::process_stat_test
