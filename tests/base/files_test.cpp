#include "base/files.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "base/error.hpp"
#include "tests/base/temporary_folder.hpp"

namespace {

bool fstat_fails = false;

}  // namespace

/// In place of the C library's: no file at hand is one that can be opened and not looked at.
extern "C" int fstat(int fd, struct stat* buf) noexcept {
  if (!fstat_fails) return ::fstatat(fd, "", buf, AT_EMPTY_PATH);
  errno = EIO;
  return -1;
}

namespace collbench::files_test {
namespace {

using ::testing::HasSubstr;

TEST(FileDescriptor, IsClosedAtTheEnd) {
  int fd = -1;
  {
    const FileDescriptor file(::open("/dev/null", O_RDONLY));
    fd = file.get();
    EXPECT_EQ(::fcntl(fd, F_GETFD), 0);
  }
  EXPECT_EQ(::fcntl(fd, F_GETFD), -1);
}

TEST(FileDescriptor, ClosingEarlyReportsWhetherItWentWell) {
  FileDescriptor file(::open("/dev/null", O_RDONLY));
  EXPECT_TRUE(file.close());
  EXPECT_FALSE(file.close());
}

TEST(WriteAll, AFullDiskIsAnErrorThatNamesTheFile) {
  const FileDescriptor full(::open("/dev/full", O_WRONLY));
  try {
    write_all(full.get(), "text", "run.stream");
    ADD_FAILURE() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_THAT(describe(error), HasSubstr("run.stream: cannot be written: No space left on device"));
  }
}

TEST(SyncFile, WhatHasNoDiskIsNoError) {
  const FileDescriptor null(::open("/dev/null", O_WRONLY));
  EXPECT_NO_THROW(sync_file(null.get(), "/dev/null"));
  EXPECT_THROW(sync_file(-1, "closed"), Error);
}

TEST(AppendFile, GrowsFromWhatIsKept) {
  const TemporaryFolder folder;
  const std::filesystem::path path = folder.path() / "stream";
  {
    AppendFile file(path, 0);
    file.append("one\n");
    file.append("two\nto");
    file.sync();
  }
  EXPECT_EQ(read_file(path), "one\ntwo\nto");
  AppendFile(path, 8).append("three\n");
  EXPECT_EQ(read_file(path), "one\ntwo\nthree\n");
}

TEST(AppendFile, ALinkIsNotFollowed) {
  const TemporaryFolder folder;
  write_file_by_rename(folder.path() / "victim", "precious");
  std::filesystem::create_symlink(folder.path() / "victim", folder.path() / "stream");
  EXPECT_THROW(AppendFile(folder.path() / "stream", 0), Error);
  EXPECT_EQ(read_file(folder.path() / "victim"), "precious");
}

TEST(AppendFile, AFileThatWasTakenAwayIsNoticed) {
  const TemporaryFolder folder;
  const std::filesystem::path path = folder.path() / "stream";
  const AppendFile file(path, 0);
  EXPECT_NO_THROW(file.require_in_place());
  std::filesystem::rename(path, folder.path() / "elsewhere");
  EXPECT_THROW(file.require_in_place(), Error);
  write_file_by_rename(path, "somebody else's");
  EXPECT_THROW(file.require_in_place(), Error);
}

TEST(AppendFile, AReaderSeesItAtOnce) {
  const TemporaryFolder folder;
  AppendFile file(folder.path() / "stream", 0);
  file.append("one\n");
  EXPECT_EQ(read_file(folder.path() / "stream"), "one\n");
}

TEST(AppendFile, WhatCannotBeWrittenIsAnErrorThatNamesIt) {
  EXPECT_THROW(AppendFile("/no such folder/stream", 0), Error);
  AppendFile full("/dev/full", 0);
  EXPECT_THROW(full.append("one\n"), Error);
}

using testing::AllOf;
using testing::HasSubstr;

class AtomicFile : public testing::Test {
 protected:
  AtomicFile() { std::filesystem::create_directory(folder_); }
  ~AtomicFile() override { std::filesystem::remove_all(folder_); }

  [[nodiscard]] std::filesystem::path path(std::string_view name) const { return folder_ / name; }
  [[nodiscard]] long files() const {
    return std::distance(std::filesystem::directory_iterator(folder_), std::filesystem::directory_iterator());
  }

 private:
  std::filesystem::path folder_ = std::filesystem::path(testing::TempDir()) /
                                  ("atomic_file_" + std::to_string(::getpid()) + "_" +
                                   testing::UnitTest::GetInstance()->current_test_info()->name());
};

std::string refusal(const std::function<void()>& action) {
  try {
    action();
    return "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), ExitStatus::usage);
    return describe(error);
  }
}

TEST_F(AtomicFile, GivesBackWhatWasWritten) {
  std::string text(200'000, 'x');  // more than one read
  text[70'000] = '\0';
  write_file_by_rename(path("run.json"), text);
  EXPECT_EQ(read_file(path("run.json")), text);
  write_file_by_rename(path("empty"), "");
  EXPECT_EQ(read_file(path("empty")), "");
}

TEST_F(AtomicFile, ReplacesTheOldFileAndLeavesNothingElse) {
  write_file_by_rename(path("run.json"), "a longer first version");
  write_file_by_rename(path("run.json"), "second");
  EXPECT_EQ(read_file(path("run.json")), "second");
  EXPECT_EQ(files(), 1);
}

TEST_F(AtomicFile, LeavesAReaderOfTheOldFileUndisturbed) {
  write_file_by_rename(path("run.json"), "first");
  std::ifstream reader(path("run.json"));
  write_file_by_rename(path("run.json"), "second");
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(reader), {}), "first");
}

// The kernel kills whoever writes more than it may, in the midst of it.
TEST_F(AtomicFile, AProcessThatIsKilledWhileItWritesLeavesNothing) {
  const int able = ::open(path("").c_str(), O_TMPFILE | O_WRONLY, 0600);
  if (able < 0) GTEST_SKIP() << "this file system has no O_TMPFILE";
  ::close(able);
  const std::string large(1U << 20U, 'x');
  const auto write = [&] {
    const rlimit limit{.rlim_cur = 4096, .rlim_max = 4096};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    write_file_by_rename(path("run.json"), large);
  };
  EXPECT_EXIT(write(), ::testing::KilledBySignal(SIGXFSZ), "");
  EXPECT_EQ(files(), 0);
}

TEST_F(AtomicFile, WritesThroughNothingThatWaitsAtANameToBeForeseen) {
  write_file_by_rename(path("victim"), "precious");
  std::filesystem::create_symlink(path("victim"), path("run.json." + std::to_string(::getpid()) + ".tmp"));
  std::filesystem::create_symlink(path("victim"), path("run.json.tmp"));
  write_file_by_rename(path("run.json"), "text");
  EXPECT_EQ(read_file(path("victim")), "precious");
  EXPECT_EQ(read_file(path("run.json")), "text");
}

TEST_F(AtomicFile, NamesThePathAndTheReasonWhenItCannotWrite) {
  EXPECT_THAT(refusal([&] { write_file_by_rename(path("none/run.json"), "text"); }),
              AllOf(HasSubstr("none/run.json"), HasSubstr("cannot be written: No such file")));
}

/// A run's record is written again and again: what is kept is the newest.
TEST_F(AtomicFile, KeepsTheTextBesideWhenTheRenameFails) {
  std::filesystem::create_directory(path("run.json"));
  for (const std::string text : {"text", "newer"})
    EXPECT_THAT(refusal([&] { write_file_by_rename(path("run.json"), text); }),
                AllOf(HasSubstr("run.json: cannot be written: Is a directory; what it should hold is in "),
                      HasSubstr("run.json.kept: move that")));
  EXPECT_EQ(files(), 2);
  EXPECT_EQ(read_file(path("run.json.kept")), "newer");
}

TEST_F(AtomicFile, LeavesNothingBehindWhenNoNameIsFree) {
  std::filesystem::create_directory(path("run.json"));
  std::filesystem::create_directory(path("run.json.kept"));
  EXPECT_THAT(refusal([&] { write_file_by_rename(path("run.json"), "text"); }),
              HasSubstr("cannot be written: Is a directory; give another path"));
  EXPECT_EQ(files(), 2);
}

TEST_F(AtomicFile, NamesThePathAndTheReasonWhenItCannotRead) {
  EXPECT_THAT(refusal([&] { (void)read_file(path("none")); }),
              AllOf(HasSubstr("none"), HasSubstr("cannot be read: No such file")));
  EXPECT_THAT(refusal([&] { (void)read_file(path("")); }), HasSubstr("cannot be read: Is a directory"));
}

TEST_F(AtomicFile, AcceptsANewFileInAWritableFolder) {
  EXPECT_EQ(refusal([&] { require_writable(path("run.json"), false, "-o"); }), "accepted");
  EXPECT_EQ(files(), 0);  // the probe is gone
}

TEST_F(AtomicFile, RefusesAFileThatExistsUnlessAskedToOverwrite) {
  write_file_by_rename(path("run.json"), "precious");
  EXPECT_THAT(refusal([&] { require_writable(path("run.json"), false, "-o"); }),
              AllOf(HasSubstr("-o: "), HasSubstr("already exists; "), HasSubstr("--overwrite")));
  EXPECT_EQ(refusal([&] { require_writable(path("run.json"), true, "-o"); }), "accepted");
  EXPECT_EQ(read_file(path("run.json")), "precious");
}

TEST_F(AtomicFile, RefusesALinkToNowhereAsAFileThatExists) {
  std::filesystem::create_symlink(path("nowhere"), path("link"));
  EXPECT_THAT(refusal([&] { require_writable(path("link"), false, "-o"); }),
              HasSubstr("is not a regular file"));
}

TEST_F(AtomicFile, RefusesAFolder) {
  EXPECT_THAT(refusal([&] { require_writable(path(""), true, "-o"); }), HasSubstr("is a folder"));
}

TEST_F(AtomicFile, RefusesAMissingFolder) {
  EXPECT_THAT(refusal([&] { require_writable(path("none/run.json"), false, "-o"); }),
              HasSubstr("none does not exist; create it, or give another path"));
}

TEST_F(AtomicFile, RefusesAFolderThatTakesNoFileEvenFromRoot) {
  EXPECT_THAT(refusal([&] { require_writable("/proc/run.json", false, "-o"); }),
              HasSubstr("cannot write in /proc"));
}

TEST(EntriesOf, AreByNameAndAFolderThatIsNotThereIsAFailureAndThrowsNothing) {
  const TemporaryFolder folder;
  for (const char* const name : {"b", "a", ".c", "a10"}) std::ofstream(folder.path() / name) << "x";
  std::error_code failure;
  std::vector<std::string> names;
  for (const std::filesystem::path& entry : entries_of(folder.path(), failure))
    names.push_back(entry.filename());
  EXPECT_EQ(names, (std::vector<std::string>{".c", "a", "a10", "b"}));
  EXPECT_FALSE(failure);
  EXPECT_TRUE(entries_of(folder.path() / "nowhere", failure).empty());
  EXPECT_EQ(failure, std::errc::no_such_file_or_directory);
  EXPECT_TRUE(entries_of(folder.path() / "a", failure).empty());
  EXPECT_EQ(failure, std::errc::not_a_directory);
}

TEST(ReadFile, ADeviceIsNoFileAndATooLargeFileIsNotRead) {
  EXPECT_THAT(refusal([] { static_cast<void>(read_file("/dev/zero")); }),
              HasSubstr("/dev/zero: is a device, not a file"));
  const auto large = std::filesystem::temp_directory_path() / ("large-" + std::to_string(::getpid()));
  std::ofstream(large).put(' ');
  std::filesystem::resize_file(large, kMaxFileBytes + 1);  // takes no room on the disk
  EXPECT_THAT(refusal([&] { static_cast<void>(read_file(large)); }), HasSubstr("is larger than 1 GiB"));
  std::filesystem::remove(large);
}

TEST(ReadFile, HasTheLimitThatIsAskedFor) {
  const TemporaryFolder folder;
  write_file_by_rename(folder.path() / "four", "four");
  EXPECT_EQ(read_file(folder.path() / "four", 4), "four");
  EXPECT_THAT(refusal([&] { static_cast<void>(read_file(folder.path() / "four", 3)); }),
              HasSubstr("is larger than 3 B"));
}

TEST(OpenForReading, LeavesNothingOpenWhereTheFileCannotBeLookedAt) {
  const int before = ::dup(STDIN_FILENO);
  ::close(before);
  fstat_fails = true;
  EXPECT_THAT(refusal([] { static_cast<void>(open_for_reading("/dev/null")); }),
              HasSubstr("/dev/null: cannot be read: Input/output error"));
  fstat_fails = false;
  const FileDescriptor after(::dup(STDIN_FILENO));
  EXPECT_EQ(after.get(), before);
}

TEST(OpenForReading, APipeThatNobodyWritesToIsNotWaitedForForEver) {
  const TemporaryFolder folder;
  const std::filesystem::path pipe = folder.path() / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_THAT(refusal([&] { static_cast<void>(open_for_reading(pipe, 0)); }),
              HasSubstr("is a pipe, and nothing came through it in 0 s"));
  const FileDescriptor keeper(::open(pipe.c_str(), O_RDWR));
  write_all(keeper.get(), "text", pipe);
  const FileDescriptor reader(open_for_reading(pipe, 0));
  EXPECT_EQ(::fcntl(reader.get(), F_GETFL) & O_NONBLOCK, 0);
}

}  // namespace

}  // namespace collbench::files_test
