#include "base/shared_library.hpp"

#include <gmock/gmock.h>

#include <stdexcept>

namespace collbench::shared_library_test {
namespace {

using ::testing::HasSubstr;

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
