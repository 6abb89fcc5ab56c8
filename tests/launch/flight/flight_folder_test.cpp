#include "launch/flight/flight_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <fstream>

#include "base/error.hpp"
#include "launch/flight/flight_recorder.hpp"

namespace collbench::launch::flight_folder_test {
namespace {

namespace fs = std::filesystem;

std::string error_of(const fs::path& file) {
  try {
    static_cast<void>(read_flight_file(file));
  } catch (const Error& error) {
    return describe(error);
  }
  return "none";
}

class FlightFolderTest : public ::testing::Test {
 protected:
  FlightFolderTest() {
    ::setenv("PMIX_NAMESPACE", ("test/../" + std::to_string(::getpid())).c_str(), 1);
    std::string pattern = fs::temp_directory_path() / "flight-XXXXXX";
    folder_ = ::mkdtemp(pattern.data());
  }
  ~FlightFolderTest() override {
    ::unsetenv("PMIX_NAMESPACE");
    fs::remove_all(folder_);
  }
  fs::path folder_;
};

TEST_F(FlightFolderTest, AJobsFolderIsItsUsersAlone) {
  const fs::path made = make_flight_folder();
  ASSERT_FALSE(made.empty());
  EXPECT_EQ(made.filename().string(),
            "collbench-flight-" + std::to_string(::geteuid()) + "-test_.._" + std::to_string(::getpid()));
  struct stat about{};
  ASSERT_EQ(::stat(made.c_str(), &about), 0);
  EXPECT_EQ(about.st_mode & 0777, 0700U);
  EXPECT_EQ(make_flight_folder(), made);  // the next rank of the job
  EXPECT_THAT(flight_folders(), ::testing::Contains(made));
  ::chmod(made.c_str(), 0777);  // whoever may write there may put links there
  EXPECT_TRUE(make_flight_folder().empty());
  fs::remove_all(made);
}

TEST_F(FlightFolderTest, AFolderThatIsALinkIsNotUsed) {
  const fs::path made = make_flight_folder();
  fs::remove(made);
  fs::create_directory_symlink(folder_, made);
  EXPECT_TRUE(make_flight_folder().empty());
  fs::remove(made);
}

TEST_F(FlightFolderTest, ProcessesOfAnotherBootAreUnknown) {
  FlightPage page;
  page.pid = ::getpid();
  EXPECT_EQ(process_state(page), ProcessState::unknown);
}

TEST_F(FlightFolderTest, ALaterProcessOfTheSameNumberIsAnotherOne) {
  const FlightRecorder recorder({.rank = 0, .ranks = 1, .local_ranks = 1, .host = "h", .gpu = ""}, folder_);
  EXPECT_EQ(read_flight_file(folder_ / "rank-0").process, ProcessState::running);
  // The same page with another start.
  std::ifstream in(folder_ / "rank-0", std::ios::binary);
  std::string bytes((std::istreambuf_iterator<char>(in)), {});
  bytes.at(offsetof(FlightPage, started_ticks)) ^= 1;
  std::ofstream(folder_ / "rank-7", std::ios::binary) << bytes;
  EXPECT_EQ(read_flight_file(folder_ / "rank-7").process, ProcessState::gone);
}

TEST_F(FlightFolderTest, WhatEndedARunIsLeftOnceAndGoesWithTheNextRun) {
  EXPECT_EQ(left_incident(folder_), "");
  EXPECT_TRUE(leave_incident(folder_, "first"));
  EXPECT_FALSE(leave_incident(folder_, "second"));
  EXPECT_EQ(left_incident(folder_), "first");
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), {}), 1) << "nothing else is left";
  EXPECT_TRUE(leave_incident("", "nobody hears it"));
  forget_incident(folder_);
  EXPECT_EQ(left_incident(folder_), "");
}

TEST_F(FlightFolderTest, ADamagedFlagIsRead) {
  std::string page(sizeof(FlightPage), '\0');
  std::copy(FlightPage::kMagic.begin(), FlightPage::kMagic.end(), page.begin());
  page[offsetof(FlightPage, is_over)] = '\xff';  // as a bool this is undefined
  std::ofstream(folder_ / "rank-0") << page;
  EXPECT_TRUE(read_flight_file(folder_ / "rank-0").is_over);
}

TEST_F(FlightFolderTest, OtherFilesAreRefusedByName) {
  std::ofstream(folder_ / "rank-0") << "text";
  std::ofstream(folder_ / "rank-1") << std::string(sizeof(FlightPage), 'x');
  fs::create_directory(folder_ / "rank-2");
  ::mkfifo((folder_ / "rank-3").c_str(), 0600);  // nobody writes: opening it must not wait
  for (const char* name : {"rank-0", "rank-1", "rank-2", "rank-3"}) {
    const std::string error = error_of(folder_ / name);
    EXPECT_THAT(error, ::testing::HasSubstr("not a flight recorder of this version")) << name;
    EXPECT_THAT(error, ::testing::HasSubstr(name));
  }
  EXPECT_THAT(error_of(folder_ / "rank-9"), ::testing::HasSubstr("No such file"));
  EXPECT_THAT(read_flight_folder(folder_), ::testing::IsEmpty());
}

}  // namespace
}  // namespace collbench::launch::flight_folder_test
