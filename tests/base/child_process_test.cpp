// With real processes. No time is asserted: a child that is not ended in time fails the test's own limit.
#include "base/child_process.hpp"

#include <gmock/gmock.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <filesystem>

namespace collbench::child_process_test {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

constexpr double kLong = 100;  // seconds; as good as for ever in a test

ChildResult shell(const std::string& script, const ChildLimits& limits = {.seconds = kLong}) {
  return run_child({"sh", "-c", script}, limits);
}

/// Whether a process is still there; one that was killed a moment ago gets some time to vanish.
bool vanishes(const std::string& pid) {
  for (int i = 0; i < 1000; ++i) {
    // An orphan that nobody reaps stays as a zombie, which is as good as gone.
    const ChildResult state = shell("ps -o stat= -p " + pid);
    if (state.out.empty() || state.out[0] == 'Z') return true;
    ::usleep(5000);
  }
  return false;
}

TEST(ChildProcess, KeepsStreamsApartAndGivesTheStatus) {
  const ChildResult result = shell("echo one; echo two >&2; exit 3");
  EXPECT_EQ(result.end, ChildEnd::exited);
  EXPECT_EQ(result.code, 3);
  EXPECT_FALSE(result.succeeded());
  EXPECT_EQ(result.out, "one\n");
  EXPECT_EQ(result.err, "two\n");
  EXPECT_EQ(describe_end(result), "exit status 3");
  EXPECT_TRUE(run_child({"true"}).succeeded());
}

TEST(ChildProcess, TakesArgumentsAsTheyAre) {
  EXPECT_EQ(run_child({"printf", "%s|", "a b", "$HOME;*", ""}).out, "a b|$HOME;*||");
}

TEST(ChildProcess, HasAnEmptyStdin) { EXPECT_TRUE(run_child({"cat"}, {.seconds = kLong}).succeeded()); }

TEST(ChildProcess, IsEndedAfterItsTime) {
  const ChildLimits limits{.seconds = 0.2};
  const ChildResult result = shell("echo $$; sleep 1000 & echo $!; wait", limits);
  EXPECT_EQ(result.end, ChildEnd::timed_out);
  EXPECT_EQ(describe_end(result, limits), "timed out after 0.2 s");
  const std::size_t line = result.out.find('\n');
  EXPECT_TRUE(vanishes(result.out.substr(0, line)));
  EXPECT_TRUE(vanishes(result.out.substr(line + 1))) << "the whole group ends, not only the program";
}

TEST(ChildProcess, IgnoringSignalsDoesNotHelp) {
  EXPECT_EQ(shell("trap '' TERM INT HUP; while :; do sleep 1; done", {.seconds = 0.2}).end,
            ChildEnd::timed_out);
}

TEST(ChildProcess, WhoKeepsThePipeOpenIsNotWaitedFor) {
  const ChildResult result = shell("sleep 1000 & echo $!");
  EXPECT_TRUE(result.succeeded());
  EXPECT_TRUE(vanishes(result.out));
  // In a session of its own it escapes the group, and still nobody waits for it.
  EXPECT_TRUE(shell("setsid sleep 2 & echo left").succeeded());
}

TEST(ChildProcess, ReadsAllOfALongOutput) {
  const ChildResult result = run_child({"head", "-c", "10000000", "/dev/zero"}, {.seconds = kLong});
  EXPECT_TRUE(result.succeeded());
  EXPECT_EQ(result.out.size(), 10'000'000U);
  EXPECT_FALSE(result.cut);
}

TEST(ChildProcess, CutsAnEndlessOutputWithoutStoppingTheChild) {
  const ChildResult result =
      shell("head -c 10000000 /dev/zero; echo done >&2", {.seconds = kLong, .max_bytes = 1000});
  EXPECT_TRUE(result.succeeded());
  EXPECT_EQ(result.out.size(), 1000U);
  EXPECT_TRUE(result.cut);
  EXPECT_EQ(result.err, "done\n");
  const ChildResult endless = shell("yes", {.seconds = 0.2, .max_bytes = 1000});
  EXPECT_EQ(endless.end, ChildEnd::timed_out);
  EXPECT_THAT(endless.out, StartsWith("y\ny\n"));
}

TEST(ChildProcess, SaysWhyAProgramDoesNotStart) {
  const ChildResult missing = run_child({"collbench-no-such-program"});
  EXPECT_EQ(missing.end, ChildEnd::not_started);
  EXPECT_EQ(missing.code, ENOENT);
  EXPECT_EQ(describe_end(missing), "No such file or directory");
  EXPECT_EQ(run_child({"/proc"}).code, EACCES);
}

TEST(ChildProcess, NamesASignal) {
  const ChildResult result = shell("kill -SEGV $$");
  EXPECT_EQ(result.end, ChildEnd::signalled);
  EXPECT_EQ(result.code, SIGSEGV);
  EXPECT_THAT(describe_end(result), HasSubstr("signal 11"));
}

TEST(ChildProcess, LeavesNoDescriptorAndNoZombieBehind) {
  const auto open = [] { return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {}); };
  const auto before = open();
  for (int i = 0; i < 20; ++i) {
    EXPECT_TRUE(run_child({"true"}).succeeded());
    EXPECT_EQ(run_child({"collbench-no-such-program"}).end, ChildEnd::not_started);
  }
  EXPECT_EQ(open(), before);
  EXPECT_EQ(run_child({"ps", "-o", "stat=", "--ppid", std::to_string(::getpid())}).out.find('Z'),
            std::string::npos);
}

TEST(ChildProcess, StartsWithoutOurSignalMask) {
  sigset_t blocked;
  sigset_t before;
  sigfillset(&blocked);
  ::pthread_sigmask(SIG_SETMASK, &blocked, &before);
  const ChildResult result = shell("kill -TERM $$; echo survived");
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  EXPECT_EQ(result.end, ChildEnd::signalled);
}

}  // namespace
}  // namespace collbench::child_process_test
