#include "base/output_lock.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <optional>
#include <string>

#include "base/error.hpp"
#include "tests/base/temporary_folder.hpp"

namespace collbench::output_lock_test {
namespace {

using ::testing::HasSubstr;
namespace fs = std::filesystem;

class OutputLockTest : public ::testing::Test {
 protected:
  [[nodiscard]] fs::path path(const std::string& name) const { return folder_.path() / name; }

  /// What locking run.json says.
  [[nodiscard]] std::string said() const {
    try {
      const OutputLock lock(path("run.json"), "-J");
      return fs::exists(path(".run.json.lock")) ? "locked" : "not locked";
    } catch (const Error& error) {
      EXPECT_EQ(error.status(), ExitStatus::usage);
      return describe(error);
    }
  }

 private:
  TemporaryFolder folder_;
};

TEST_F(OutputLockTest, TheSecondIsRefusedByTheNameOfTheFirst) {
  std::optional<OutputLock> first(std::in_place, path("run.json"), "-J");
  EXPECT_THAT(said(), HasSubstr("run.json is being written by another run (process " +
                                std::to_string(::getpid()) + " on "));
  EXPECT_NO_THROW(OutputLock(path("other.json"), "-J"));
  first.reset();
  EXPECT_TRUE(fs::is_empty(path(".")));
  EXPECT_EQ(said(), "locked");
}

TEST_F(OutputLockTest, GoesWithItsOwnerHoweverThatEnds) {
  const pid_t owner = ::fork();
  if (owner == 0) {
    const OutputLock lock(path("run.json"), "-J");
    ::kill(::getpid(), SIGKILL);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(owner, &status, 0), owner);
  ASSERT_TRUE(WIFSIGNALED(status));
  EXPECT_TRUE(fs::exists(path(".run.json.lock")));
  EXPECT_EQ(said(), "locked");
}

TEST_F(OutputLockTest, IsRemovedByItsOwnProcessAlone) {
  OutputLock::remove_own(path("run.json"));  // there is none
  const OutputLock lock(path("run.json"), "-J");
  const pid_t other = ::fork();
  if (other == 0) {
    OutputLock::remove_own(path("run.json"));
    ::_exit(0);
  }
  ::waitpid(other, nullptr, 0);
  EXPECT_TRUE(fs::exists(path(".run.json.lock")));
  OutputLock::remove_own(path("run.json"));
  EXPECT_FALSE(fs::exists(path(".run.json.lock")));
}

TEST_F(OutputLockTest, WhatWaitsAtItsNameIsNeitherFollowedNorWritten) {
  write_file_by_rename(path("victim"), "precious");
  fs::create_symlink(path("victim"), path(".run.json.lock"));
  EXPECT_THAT(said(), HasSubstr(".run.json.lock is no lock of collbench's"));
  fs::remove(path(".run.json.lock"));
  fs::create_hard_link(path("victim"), path(".run.json.lock"));
  EXPECT_THAT(said(), HasSubstr(".run.json.lock is no lock of collbench's"));
  EXPECT_EQ(read_file(path("victim")), "precious");
}

TEST_F(OutputLockTest, WhereNoFileCanBeMadeNothingIsLocked) {
  EXPECT_NO_THROW(OutputLock(path("none/run.json"), "-J"));
}

}  // namespace
}  // namespace collbench::output_lock_test
