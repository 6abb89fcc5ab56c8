#include "base/error.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <new>
#include <system_error>

#include <string>
#include <vector>

namespace collbench::error_test {
namespace {

TEST(Error, CarriesWhereWhatAndTheNextStep) {
  const Error error(ExitStatus::not_here, "host n2", "no GPU", "ask for --backend mpi");
  EXPECT_EQ(error.status(), ExitStatus::not_here);
  EXPECT_EQ(error.where(), "host n2");
  EXPECT_STREQ(error.what(), "no GPU");
  EXPECT_EQ(error.next_step(), "ask for --backend mpi");
}

TEST(UsageError, IsExitStatusTwo) {
  EXPECT_EQ(static_cast<int>(usage_error("-b", "too large", "give less").status()), 2);
}

TEST(Describe, IsOneLineForTheUser) {
  EXPECT_EQ(describe(usage_error("-b", "size '12Q' is odd", "write 12K")),
            "collbench: -b: size '12Q' is odd; write 12K");
}

// What this checks with the library's own exception, a bug of ours would throw.
TEST(Describe, CallsAnyOtherExceptionABugThatIsToBeReported) {
  std::vector<int> empty;
  try {
    static_cast<void>(empty.at(0));
    FAIL() << "an index out of range";
  } catch (const std::exception& failure) {
    EXPECT_EQ(exit_status(failure), ExitStatus::internal);
    const std::string line = describe(failure);
    EXPECT_EQ(line.find("collbench: internal error: "), 0U) << line;
    EXPECT_NE(line.find(failure.what()), std::string::npos) << line;
    EXPECT_NE(line.find("report it in the project's issue tracker"), std::string::npos) << line;
  }
}

TEST(ExitStatusOfAnException, IsThatOfAnError) {
  const Error error(ExitStatus::rank_lost, "rank 3", "it hangs", "");
  EXPECT_EQ(exit_status(error), ExitStatus::rank_lost);
  EXPECT_EQ(describe(static_cast<const std::exception&>(error)), "collbench: rank 3: it hangs");
}

TEST(ExitStatusOfAnException, FilesAndMemoryAreNoBugs) {
  const std::filesystem::filesystem_error gone("temp_directory_path", "/gone",
                                               std::make_error_code(std::errc::no_such_file_or_directory));
  EXPECT_EQ(exit_status(gone), ExitStatus::usage);
  EXPECT_EQ(describe(gone),
            "collbench: /gone: No such file or directory; check that it exists and that its permissions "
            "allow this");
  EXPECT_EQ(exit_status(std::bad_alloc()), ExitStatus::usage);
  EXPECT_EQ(describe(std::bad_alloc()).find("collbench: out of memory; "), 0U);
}

TEST(Describe, LeavesOutWhatIsEmpty) { EXPECT_EQ(describe(usage_error("", "odd", "")), "collbench: odd"); }

// docs/formats.md and scripts rely on these numbers.
TEST(ExitStatus, HasTheNumbersThatAreDocumented) {
  EXPECT_EQ(static_cast<int>(ExitStatus::ok), 0);
  EXPECT_EQ(static_cast<int>(ExitStatus::low), 1);
  EXPECT_EQ(static_cast<int>(ExitStatus::usage), 2);
  EXPECT_EQ(static_cast<int>(ExitStatus::wrong_data), 3);
  EXPECT_EQ(static_cast<int>(ExitStatus::rank_lost), 4);
  EXPECT_EQ(static_cast<int>(ExitStatus::not_here), 5);
  EXPECT_EQ(static_cast<int>(ExitStatus::internal), 70);
}

}  // namespace
}  // namespace collbench::error_test
