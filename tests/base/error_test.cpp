#include "base/error.hpp"

#include <gtest/gtest.h>

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

TEST(Describe, LeavesOutWhatIsEmpty) { EXPECT_EQ(describe(usage_error("", "odd", "")), "collbench: odd"); }

// docs/exit-status.md and scripts rely on these numbers.
TEST(ExitStatus, HasTheNumbersThatAreDocumented) {
  EXPECT_EQ(static_cast<int>(ExitStatus::ok), 0);
  EXPECT_EQ(static_cast<int>(ExitStatus::low), 1);
  EXPECT_EQ(static_cast<int>(ExitStatus::usage), 2);
  EXPECT_EQ(static_cast<int>(ExitStatus::wrong_data), 3);
  EXPECT_EQ(static_cast<int>(ExitStatus::rank_lost), 4);
  EXPECT_EQ(static_cast<int>(ExitStatus::not_here), 5);
}

}  // namespace
}  // namespace collbench::error_test
