#include "base/shared_library.hpp"

#include <gmock/gmock.h>

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <string_view>

#include "base/scratch_folder.hpp"

namespace collbench::shared_library_test {
namespace {

using ::testing::HasSubstr;

/// In a folder of its own that has the file libm.so.6, and lib/libm.so.6.
class CurrentFolder : public ::testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::create_directory(folder_.file("lib"));
    std::ofstream(folder_.file("libm.so.6")) << "no library";
    std::ofstream(folder_.file("lib/libm.so.6")) << "no library";
    std::filesystem::current_path(folder_.file(""));
  }
  void TearDown() override {
    ::unsetenv("LD_LIBRARY_PATH");
    std::filesystem::current_path(before_);
  }

  ScratchFolder folder_;
  std::filesystem::path before_ = std::filesystem::current_path();
};

TEST_F(CurrentFolder, IsFoundByEmptyAndRelativePartsOfTheSearchPath) {
  for (const char* path : {":", ";", "/none:", ":/none", "/none::/none", "/none;", "."})
    EXPECT_THAT(in_current_folder("libm.so.6", path), ::testing::AnyOf("libm.so.6", "./libm.so.6")) << path;
  for (const char* path : {"lib", "/none:lib", "./lib", "lib/"})
    EXPECT_THAT(in_current_folder("libm.so.6", path), HasSubstr("lib/libm.so.6")) << path;
  EXPECT_THAT(in_current_folder("libm.so.6", "$LIB:lib"), "lib/libm.so.6");
  // The loader passes over a file there that is of another machine or that it may not read.
  EXPECT_THAT(in_current_folder("libm.so.6", folder_.file("") + ":"), "libm.so.6");
}

TEST_F(CurrentFolder, IsFoundWhereTheLoaderItselfLooksBelowIt) {
  // It says so, for a program that it starts with an empty part.
  const std::string said = folder_.file("said");
  ASSERT_EQ(std::system(("LD_LIBRARY_PATH=: LD_DEBUG=libs /bin/true 2>" + said).c_str()), 0);
  std::ifstream lines(said);
  int tried = 0;
  for (std::string word; lines >> word;) {
    constexpr std::string_view kFile = "file=";
    if (!word.starts_with(kFile) || !word.ends_with("/libc.so.6")) continue;
    const std::filesystem::path file = word.substr(kFile.size());
    if (file.is_absolute()) continue;
    ++tried;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << "no library";
    EXPECT_EQ(in_current_folder("libc.so.6", ":"), file);
    std::filesystem::remove(file);
  }
  EXPECT_GT(tried, 0);
}

TEST_F(CurrentFolder, IsNotFoundByOthers) {
  const std::string here = folder_.file("");
  for (const std::string& path : {std::string(), std::string("/none"), std::string("$ORIGIN/lib"),
                                  std::string("${ORIGIN}"), here, std::string("none")})
    EXPECT_THAT(in_current_folder("libm.so.6", path), "") << path;
  EXPECT_THAT(in_current_folder("libnone.so.7", ":"), "");
  EXPECT_THAT(in_current_folder("./libm.so.6", ":"), "");  // who names it wants it
  EXPECT_THAT(in_current_folder("/libm.so.6", ":"), "");
}

TEST_F(CurrentFolder, IsRefusedAndNoOtherTakenInstead) {
  ::setenv("LD_LIBRARY_PATH", "/none:", 1);
  EXPECT_THROW(SharedLibrary("libm.so.6"), std::runtime_error);
  std::string reason;
  EXPECT_FALSE(first_library({"libnone.so.7", "libm.so.6", "libc.so.6"}, reason));
  EXPECT_THAT(reason, HasSubstr("libm.so.6 lies in the current folder"));
  EXPECT_TRUE(first_library({"libc.so.6", "libm.so.6"}, reason));
}

TEST(SharedLibrary, FindsAFunctionAndCallsIt) {
  const SharedLibrary library("libm.so.6");
  double (*root)(double) = nullptr;
  library.find(root, "sqrt");
  ASSERT_NE(root, nullptr);
  EXPECT_EQ(root(9), 3);
}

TEST(SharedLibrary, AFunctionThatIsNotThereIsNull) {
  const SharedLibrary library("libm.so.6");
  void (*none)() = [] {};
  library.find(none, "no_such_function");
  EXPECT_EQ(none, nullptr);
}

TEST(SharedLibrary, SaysWhichFileItIs) {
  EXPECT_THAT(SharedLibrary("libm.so.6").path(), HasSubstr("/libm.so.6"));
}

TEST(SharedLibrary, MissingOnesAreNamed) {
  try {
    const SharedLibrary library("libnone.so.7");
    FAIL();
  } catch (const std::runtime_error& error) {
    EXPECT_THAT(error.what(), HasSubstr("libnone.so.7"));
  }
}

TEST(FirstLibrary, TakesTheFirstThatLoads) {
  std::string unsupported_reason = "old words";
  const auto found = first_library({"libnone.so.7", "libm.so.6", "libc.so.6"}, unsupported_reason);
  ASSERT_TRUE(found);
  EXPECT_THAT(found->path(), HasSubstr("libm.so.6"));
}

TEST(FirstLibrary, SaysWhatTheLoaderSaidOfTheFirst) {
  std::string unsupported_reason;
  EXPECT_FALSE(first_library({"libnone.so.7", "libnone.so.8"}, unsupported_reason));
  EXPECT_THAT(unsupported_reason, HasSubstr("libnone.so.7"));
}

}  // namespace
}  // namespace collbench::shared_library_test
