#include "base/append_file.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include "base/atomic_file.hpp"
#include "tests/base/temporary_folder.hpp"

namespace collbench::append_file_test {
namespace {

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

}  // namespace
}  // namespace collbench::append_file_test
