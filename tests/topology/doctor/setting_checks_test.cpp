#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/topology/doctor/log_check_cases.hpp"
#include "topology/doctor/checks.hpp"

namespace collbench::topology::setting_checks_test {
namespace {

using testing::UnorderedElementsAre;

/// A setting about what a job does not have costs it nothing; where the log does not tell, it may.
TEST(SettingChecks, ASettingCostsWhatAJobHas) {
  const auto found = [](const std::string& setting, const std::string& log) {
    const std::string set = "n1:7:7 [0] NCCL INFO " + setting + " set by environment to 1.\n";
    return found_codes(diagnose(evidence_of({{"", set + log}})));
  };
  const std::string costly = "setting-costly";
  const std::string one_node =
      "n1:7:9 [0] NCCL INFO comm 0x1 rank 0 nRanks 8 nNodes 1 localRanks 8 localRank 0 MNNVL 0\n";
  const std::string apart =
      "n1:7:9 [0] NCCL INFO comm 0x1 rank 0 nRanks 2 nNodes 2 localRanks 1 localRank 0 MNNVL 0\n";
  const std::string listed =
      "#  Rank  0 Group  0 Pid 5 on n1 device  0 [0000:06:00] NVIDIA H100 80GB HBM3\n"
      "#  Rank  1 Group  0 Pid 5 on n1 device  1 [0000:07:00] NVIDIA H100 80GB HBM3\n";
  const std::string one_name =
      "#  Rank  0 Group  0 Pid 5 on n1 device  0 [0000:06:00] NVIDIA H100 80GB HBM3\n"
      "#  Rank  1 Group  0 Pid 6 on n1 device  0 [0000:06:00] NVIDIA H100 80GB HBM3\n";
  EXPECT_THAT(found("NCCL_IB_DISABLE", ""), UnorderedElementsAre(costly));
  EXPECT_THAT(found("NCCL_IB_DISABLE", one_node), testing::IsEmpty());
  EXPECT_THAT(found("NCCL_IB_DISABLE", listed), testing::IsEmpty());
  EXPECT_THAT(found("NCCL_IB_DISABLE", one_name), UnorderedElementsAre(costly));
  EXPECT_THAT(found("NCCL_IB_DISABLE", apart), UnorderedElementsAre(costly));
  EXPECT_THAT(found("NCCL_IB_DISABLE", apart + "n1:7:9 [0] NCCL INFO Using network AWS Libfabric\n"),
              testing::IsEmpty());
  EXPECT_THAT(found("NCCL_P2P_DISABLE", apart), testing::IsEmpty());
  EXPECT_THAT(found("NCCL_P2P_DISABLE", one_node), UnorderedElementsAre(costly));
}

}  // namespace
}  // namespace collbench::topology::setting_checks_test
