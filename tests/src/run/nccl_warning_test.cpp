#include "src/run/host_findings.hpp"

#include <gmock/gmock.h>

namespace collbench::program::nccl_warning_test {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

std::string next_step(const char* what, const char* where = "NCCL") {
  const Error before(ExitStatus::rank_lost, where, what, "NCCL_DEBUG=INFO shows more");
  const Error after = with_doctors_advice(before);
  EXPECT_EQ(after.status(), before.status());
  EXPECT_EQ(after.where(), before.where());
  EXPECT_STREQ(after.what(), what);
  EXPECT_THAT(after.next_step(), testing::EndsWith(before.next_step()));
  return after.next_step();
}

constexpr const char* kNoSpace =
    "ncclCommInitRankConfig failed: unhandled system error; NCCL WARN Call to posix_fallocate failed: No "
    "space "
    "left on device; NCCL WARN Error while creating shared memory segment /dev/shm/nccl-1 (size 9637888)";

TEST(WithDoctorsAdvice, IsThatForWhatNcclWarnedOf) {
  EXPECT_THAT(next_step(kNoSpace), StartsWith("no space: docker run --shm-size=1g"));
  EXPECT_THAT(next_step(kNoSpace), HasSubstr("(log-shared-memory, as collbench doctor calls it: "));
  EXPECT_THAT(next_step("x failed: y: Bootstrap : no socket interface found"), HasSubstr("log-no-interface"));
}

TEST(WithDoctorsAdvice, IsNotMadeUp) {
  EXPECT_EQ(next_step("x failed: y; NCCL WARN something new"), "NCCL_DEBUG=INFO shows more");
  EXPECT_EQ(next_step(kNoSpace, "-R"), "NCCL_DEBUG=INFO shows more");
}

}  // namespace
}  // namespace collbench::program::nccl_warning_test
