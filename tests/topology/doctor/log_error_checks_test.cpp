// What the texts of log_check_cases.hpp do not show of log_error_checks() of checks.hpp.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "tests/topology/doctor/log_check_cases.hpp"
#include "topology/doctor/checks.hpp"

namespace collbench::topology::log_error_checks_test {
namespace {

using testing::IsEmpty;
using testing::UnorderedElementsAre;

TEST(LogErrorChecks, ADeviceThatCannotBeOpenedIsNotMissedWhereOthersAreUsed) {
  const std::string denied =
      warned("transport/net_ib.cc:200 NCCL WARN NET/IB : Unable to open device mlx5_7");
  const auto codes = [&denied](const std::string& words) {
    return found_codes(diagnose(evidence_of({{"", denied + warned(words)}})));
  };
  EXPECT_THAT(codes("NCCL INFO Using network IB"), IsEmpty());
  EXPECT_THAT(codes("NCCL INFO NET/IB : Using [0]mlx5_0:1/IB [RO]; OOB eth0:10.0.0.1<0>"), IsEmpty());
  EXPECT_THAT(codes("NCCL INFO NET/IB : No device found."), UnorderedElementsAre("log-device-denied"));
}

/// What ibv_modify_qp fails with is a way that is not there for some errors only.
TEST(LogErrorChecks, AQueuePairFailsForMoreThanOneReason) {
  const std::vector<std::pair<std::string, std::string>> cases{
      {" with error Connection timed out errno 110", "log-queue-pair"},
      {" with 101 Network is unreachable, on dev mlx5_0:1", "log-queue-pair"},
      {" with error No such device", "log-queue-pair"},
      {" with 22 Invalid argument, on dev mlx5_0:1", "log-queue-pair-refused"},
      {" with error Cannot allocate memory", "log-queue-pair-refused"},
      {"", "log-queue-pair-refused"},
  };
  for (const auto& [error, code] : cases)
    EXPECT_THAT(
        found_codes(diagnose(evidence_of({{"", warned("NCCL WARN Call to ibv_modify_qp failed" + error)}}))),
        UnorderedElementsAre(code))
        << error;
}

}  // namespace
}  // namespace collbench::topology::log_error_checks_test
