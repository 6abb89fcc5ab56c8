#include "base/file_descriptor.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>

namespace collbench::file_descriptor_test {
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

TEST(FileDescriptor, ClosingEarlyTellsWhetherItWentWell) {
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

}  // namespace
}  // namespace collbench::file_descriptor_test
