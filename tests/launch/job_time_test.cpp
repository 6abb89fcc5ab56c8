#include "launch/job_time.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <string>

#include "tests/base/temporary_folder.hpp"

namespace collbench::launch::job_time_test {
namespace {

TEST(JobTime, ReadsSlurmsTimes) {
  EXPECT_EQ(slurm_seconds("0:00"), 0);
  EXPECT_EQ(slurm_seconds("0:07"), 7);
  EXPECT_EQ(slurm_seconds("4:30\n"), 270);
  EXPECT_EQ(slurm_seconds("1:02:03"), 3723);
  EXPECT_EQ(slurm_seconds("1-02:03:04"), 93784);
  EXPECT_EQ(slurm_seconds("365-00:00:00"), 31'536'000);
}

TEST(JobTime, ReadsNothingIntoOtherTexts) {
  for (const char* text :
       {"", "UNLIMITED", "NOT_SET", "INVALID", "N/A", "7", ":", "1:", ":1", "-1:00", "1:-1", "1-2", "1-2:3",
        "1-", "1:2:3:4", "1-2:3:4:5", "1.5:00", "1:00x", "99999999999999999999:00"}) {
    EXPECT_EQ(slurm_seconds(text), std::nullopt) << text;
  }
}

TEST(JobTime, KeepsTimeForTheEndOfARun) {
  EXPECT_DOUBLE_EQ(usable_seconds(0), 0);
  EXPECT_DOUBLE_EQ(usable_seconds(8), 4);
  EXPECT_DOUBLE_EQ(usable_seconds(60), 50);
  EXPECT_DOUBLE_EQ(usable_seconds(600), 570);
  EXPECT_DOUBLE_EQ(usable_seconds(86400), 86340);
}

/// A squeue that answers with `script`, and the environment of job 12.
class InJob : public ::testing::Test {
 protected:
  void SetUp() override {
    setenv("PATH", (folder_.path().string() + ":" + path_).c_str(), 1);
    setenv("SLURM_JOB_ID", "12", 1);
  }
  void TearDown() override {
    setenv("PATH", path_.c_str(), 1);
    unsetenv("SLURM_JOB_ID");
    unsetenv("SLURM_JOB_END_TIME");
  }
  void answer(const std::string& script) {
    const auto file = folder_.path() / "squeue";
    std::ofstream(file) << "#!/bin/sh\n" << script << "\n";
    std::filesystem::permissions(file, std::filesystem::perms::owner_all);
  }

 private:
  TemporaryFolder folder_;
  std::string path_ = std::getenv("PATH");
};

TEST_F(InJob, AsksForItsOwnJobOnly) {
  answer(R"(test "$*" = "--noheader --states=RUNNING --jobs 12 --format=%A %L" && echo "11 1:00
12 2:00
13 3:00")");
  EXPECT_EQ(view_job_time().seconds_left, 120);
  EXPECT_EQ(view_job_time().obstacle, "");
}

TEST_F(InJob, NoLimitIsKnown) {
  answer("echo 12 UNLIMITED");
  EXPECT_EQ(view_job_time().seconds_left, std::nullopt);
  EXPECT_EQ(view_job_time().obstacle, "");
}

TEST_F(InJob, SaysWhyNothingIsKnown) {
  answer("echo slurm_load_jobs error >&2; exit 1");
  EXPECT_EQ(view_job_time().seconds_left, std::nullopt);
  EXPECT_EQ(view_job_time().obstacle, "squeue: exit status 1");
  answer("echo 11 1:00; echo 12 NOT_SET");
  EXPECT_EQ(view_job_time().obstacle, "squeue does not tell of job 12");
}

TEST_F(InJob, TakesTheEndThatTheJobBeganWithWhereThatIsAll) {
  answer("exit 1");
  setenv("SLURM_JOB_END_TIME", std::to_string(std::time(nullptr) + 1000).c_str(), 1);
  const JobTime time = view_job_time();
  ASSERT_TRUE(time.seconds_left);
  EXPECT_GT(*time.seconds_left, 900);
  EXPECT_LE(*time.seconds_left, 1000);
  EXPECT_EQ(time.obstacle, "");
  setenv("SLURM_JOB_END_TIME", "12", 1);
  EXPECT_EQ(view_job_time().seconds_left, 0);
  setenv("SLURM_JOB_END_TIME", "soon", 1);
  EXPECT_EQ(view_job_time().seconds_left, std::nullopt);
}

TEST(JobTime, OutsideOfSlurmNothingIsKnownAndNothingIsMissing) {
  unsetenv("SLURM_JOB_ID");
  EXPECT_EQ(view_job_time().seconds_left, std::nullopt);
  EXPECT_EQ(view_job_time().obstacle, "");
}

}  // namespace
}  // namespace collbench::launch::job_time_test
