#include "launch/flight/flight_recorder.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <vector>

#include "launch/flight/flight_folder.hpp"

namespace collbench::launch::flight_recorder_test {
namespace {

namespace fs = std::filesystem;

class FlightRecorderTest : public ::testing::Test {
 protected:
  FlightRecorderTest() {
    std::string pattern = fs::temp_directory_path() / "flight-XXXXXX";
    folder_ = ::mkdtemp(pattern.data());
  }
  ~FlightRecorderTest() override { fs::remove_all(folder_); }

  [[nodiscard]] static FlightIdentity identity(int rank) {
    return {.rank = rank, .ranks = 2, .local_ranks = 2, .host = "node1", .gpu = "GPU-1"};
  }

  fs::path folder_;
};

TEST_F(FlightRecorderTest, WhatARankDoesIsSeenFromOutside) {
  FlightRecorder recorder(identity(1), folder_);
  recorder.pass(4);
  recorder.device("GPU3, mlx5_2");
  recorder.step("AllReduce 1 MiB");
  recorder.calls().enter();
  const RankActivity seen = read_flight_file(folder_ / "rank-1");
  EXPECT_EQ(seen.rank, 1);
  EXPECT_EQ(seen.ranks, 2);
  EXPECT_EQ(seen.host, "node1");
  EXPECT_EQ(seen.gpu, "GPU-1");
  EXPECT_EQ(seen.device, "GPU3, mlx5_2");
  EXPECT_EQ(recorder.activity().step, seen.step);
  EXPECT_EQ(seen.pid, ::getpid());
  EXPECT_EQ(seen.process, ProcessState::running);
  EXPECT_EQ(seen.step, "AllReduce 1 MiB");
  EXPECT_EQ(seen.pass, 4);
  EXPECT_EQ(seen.call_of_step(), 1U);
  EXPECT_TRUE(seen.waits());
  EXPECT_FALSE(seen.is_over);
}

TEST_F(FlightRecorderTest, WhatIsNotAcknowledgedIsSeenUntilThereIsProgress) {
  FlightRecorder recorder(identity(0), folder_);
  recorder.mark_unacknowledged({.address = 0x0A5D01FE, .times = 4});
  EXPECT_EQ(recorder.activity().resent_to, "10.93.1.254");
  EXPECT_EQ(recorder.activity().resent_times, 4U);
  recorder.mark_progress();
  EXPECT_EQ(recorder.activity().resent_to, "");
  EXPECT_EQ(recorder.activity().resent_times, 0U);
}

TEST_F(FlightRecorderTest, ProgressIsStepsAndCallsButNoExchanges) {
  FlightRecorder recorder(identity(0), folder_);
  const auto start = recorder.progress();
  recorder.exchanges().enter();
  recorder.exchanges().leave();
  EXPECT_EQ(recorder.progress(), start);
  recorder.calls().enter();
  EXPECT_NE(recorder.progress(), start);
  const auto inside = recorder.progress();
  recorder.step("next");
  EXPECT_NE(recorder.progress(), inside);
}

TEST_F(FlightRecorderTest, AnEndOnPurposeTakesFileAndFolderAway) {
  const fs::path job = folder_ / "job";
  fs::create_directory(job);
  {
    FlightRecorder first(identity(0), job);
    first.step("start of MPI");
    first.step("gathering the ranks");
    {
      const FlightRecorder second(identity(1), job);
      ASSERT_TRUE(leave_incident(job, "the ranks agreed that rank 1 hangs"));
    }
    EXPECT_FALSE(fs::exists(job / "rank-1"));
    EXPECT_TRUE(fs::exists(job / "rank-0"));
    EXPECT_NE(left_incident(job), "") << "rank 0 has not ended, and may ask";
  }
  EXPECT_FALSE(fs::exists(job));
}

TEST_F(FlightRecorderTest, WhatEndedTheFirstRanksIsKeptForThoseThatAreYetToCome) {
  {
    FlightRecorder early(identity(0), folder_);
    early.step("start of MPI");
    ASSERT_TRUE(leave_incident(folder_, "MPI cannot be loaded"));
  }
  EXPECT_EQ(left_incident(folder_), "MPI cannot be loaded");
}

TEST_F(FlightRecorderTest, ASignalHandlerMayStillMarkTheEndOfOneThatIsOver) {
  std::atomic<std::uint8_t>* mark = nullptr;
  {
    FlightRecorder recorder(identity(0), folder_);
    mark = &recorder.is_over();
  }
  *mark = 1;
}

TEST_F(FlightRecorderTest, WhoIsOrderedToEndIsNoLongerSeen) {
  const fs::path job = folder_ / "job";
  fs::create_directory(job);
  FlightRecorder recorder(identity(0), job);
  recorder.withdraw();
  EXPECT_FALSE(fs::exists(job));
  recorder.step("last words");  // the page is still there
  EXPECT_EQ(recorder.step_name(), "last words");
}

TEST_F(FlightRecorderTest, AKilledRankLeavesWhereItWas) {
  const pid_t child = ::fork();
  if (child == 0) {
    FlightRecorder recorder(identity(0), folder_);
    recorder.step("AllReduce 8 B");
    recorder.calls().enter();
    std::raise(SIGSTOP);
    std::raise(SIGKILL);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, WUNTRACED), child);
  ASSERT_TRUE(WIFSTOPPED(status));
  EXPECT_EQ(read_flight_file(folder_ / "rank-0").process, ProcessState::stopped);
  ::kill(child, SIGKILL);
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  const RankActivity seen = read_flight_file(folder_ / "rank-0");
  EXPECT_EQ(seen.process, ProcessState::gone);
  EXPECT_EQ(seen.step, "AllReduce 8 B");
  EXPECT_TRUE(seen.calls.inside());
  // A job of the same name takes the dead rank's file over.
  const FlightRecorder next(identity(0), folder_);
  EXPECT_EQ(read_flight_file(folder_ / "rank-0").pid, ::getpid());
}

TEST_F(FlightRecorderTest, AnEarlierJobOfTheNameIsForgottenWithAllItsRanks) {
  const pid_t child = ::fork();
  if (child == 0) {
    const FlightRecorder recorder(identity(2), folder_);
    std::raise(SIGKILL);
  }
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  ASSERT_TRUE(leave_incident(folder_, "rank 2 is gone"));
  const FlightRecorder living(identity(0), folder_);
  const auto seen = [this] {
    std::vector<int> ranks;
    for (const RankActivity& each : read_flight_folder(folder_)) ranks.push_back(each.rank);
    return ranks;
  };
  EXPECT_LE(launch_ns(), flight_clock_ns());
  forget_earlier_job(folder_, launch_ns());  // this job's own: it says who was lost
  EXPECT_EQ(seen(), (std::vector{0, 2}));
  EXPECT_EQ(left_incident(folder_), "rank 2 is gone");
  forget_earlier_job(folder_, flight_clock_ns() + 1'000'000'000);
  EXPECT_EQ(seen(), std::vector{0});
  EXPECT_EQ(left_incident(folder_), "");
}

TEST_F(FlightRecorderTest, ALivingRanksFileStaysItsOwn) {
  FlightRecorder first(identity(0), folder_);
  first.step("first");
  const FlightRecorder second(identity(0), folder_);
  EXPECT_TRUE(second.folder().empty());
  EXPECT_EQ(read_flight_file(folder_ / "rank-0").step, "first");
}

TEST_F(FlightRecorderTest, APlantedLinkIsNotFollowed) {
  const fs::path victim = folder_ / "victim";
  std::ofstream(victim) << "precious";
  fs::create_symlink(victim, folder_ / "rank-0");
  FlightRecorder recorder(identity(0), folder_);
  recorder.step("anything");
  EXPECT_TRUE(recorder.folder().empty());
  std::ifstream in(victim);
  std::string text;
  std::getline(in, text);
  EXPECT_EQ(text, "precious");
}

TEST_F(FlightRecorderTest, WithoutAFolderTheRunGoesOn) {
  FlightRecorder recorder(identity(0), "");
  recorder.step_without_limit("alone");
  EXPECT_EQ(recorder.step_name(), "alone");
  EXPECT_FALSE(recorder.step_has_limit());
  recorder.step("limited");
  EXPECT_TRUE(recorder.step_has_limit());
}

}  // namespace
}  // namespace collbench::launch::flight_recorder_test
