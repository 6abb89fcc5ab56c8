#include "tools/nccl_plan/command/nccl_plan.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <string>
#include <vector>

namespace collbench::program::nccl_trials_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

/// A node with NICs mlx5_0, mlx5_1, … of these Gb/s in slots of these lanes.
std::string node(const std::vector<int>& gigabits, const std::vector<int>& lanes) {
  std::string xml = R"(<system version="1"><cpu numaid="0">)";
  for (std::size_t i = 0; i < gigabits.size(); ++i) {
    xml += fmt::format(
        R"(<pci busid="0000:{0}0:00.0" class="0x020000" link_speed="32.0 GT/s PCIe" link_width="{1}"><nic>)"
        R"(<net name="mlx5_{0}" port="1" speed="{2}"/></nic></pci>)",
        i, lanes[i], gigabits[i] * 1000);
  }
  return xml + "</cpu></system>";
}

std::vector<std::string> settings_of(const std::vector<NcclTrialSetup>& trials) {
  std::vector<std::string> found;
  for (const NcclTrialSetup& trial : trials) found.push_back(trial.setting);
  return found;
}

const std::string kHealthy = node({400, 400, 400}, {16, 16, 16});

TEST(NcclTrials, OfHealthyNodesOnlyCrossNicIsTried) {
  EXPECT_THAT(settings_of(nccl_trials({kHealthy, kHealthy}, {})),
              ElementsAre("NCCL_CROSS_NIC=0", "NCCL_CROSS_NIC=1"));
}

TEST(NcclTrials, ASlowPortIsLeftOutOnItsNodeAlone) {
  const std::string slow = node({400, 200, 400}, {16, 16, 16});
  const auto trials = nccl_trials({kHealthy, slow}, {});
  EXPECT_THAT(settings_of(trials),
              ElementsAre("NCCL_IB_HCA=^=mlx5_1 on the last node", "NCCL_CROSS_NIC=0", "NCCL_CROSS_NIC=1"));
  EXPECT_EQ(trials[0].node_xml[0], kHealthy);
  EXPECT_THAT(trials[0].node_xml[1], Not(HasSubstr("mlx5_1")));
  EXPECT_THAT(trials[0].node_xml[1], HasSubstr("mlx5_2"));
  EXPECT_THAT(trials[0].settings, testing::IsEmpty());
  EXPECT_EQ(trials[1].node_xml[1], slow);
}

TEST(NcclTrials, ANarrowSlotIsASlowNicAndSeveralAreLeftOutAtOnceAsWell) {
  const std::string slow = node({400, 200, 400, 400}, {16, 16, 8, 16});
  EXPECT_THAT(settings_of(nccl_trials({slow, slow}, {{"NCCL_CROSS_NIC", "2"}})),
              ElementsAre("NCCL_IB_HCA=^=mlx5_1,mlx5_2 on all nodes", "NCCL_IB_HCA=^=mlx5_1 on all nodes",
                          "NCCL_IB_HCA=^=mlx5_2 on all nodes"));
}

TEST(NcclTrials, NodesInTheMiddleHaveTheirNumbers) {
  const std::string slow = node({400, 200, 400}, {16, 16, 16});
  EXPECT_EQ(nccl_trials({kHealthy, slow, kHealthy}, {})[0].setting,
            "NCCL_IB_HCA=^=mlx5_1 on node 1 (counted from 0)");
  EXPECT_EQ(nccl_trials({kHealthy, slow, slow, kHealthy}, {})[0].setting,
            "NCCL_IB_HCA=^=mlx5_1 on nodes 1, 2 (counted from 0)");
  EXPECT_EQ(nccl_trials({slow, kHealthy}, {})[0].setting, "NCCL_IB_HCA=^=mlx5_1 on the first node");
}

TEST(NcclTrials, WhatTheUserSetStays) {
  const std::string slow = node({400, 200, 400}, {16, 16, 16});
  const auto trials = nccl_trials({kHealthy, slow}, {{"NCCL_IB_HCA", "mlx5"}});
  EXPECT_THAT(settings_of(trials), ElementsAre("NCCL_CROSS_NIC=0", "NCCL_CROSS_NIC=1"));
  EXPECT_THAT(trials[1].settings,
              ElementsAre(testing::Pair("NCCL_IB_HCA", "mlx5"), testing::Pair("NCCL_CROSS_NIC", "1")));
}

TEST(NcclTrials, NodesThatAreSlowAltogetherKeepTheirNics) {
  const std::string slow = node({200, 200, 200}, {16, 16, 16});
  EXPECT_THAT(settings_of(nccl_trials({kHealthy, slow}, {})),
              ElementsAre("NCCL_CROSS_NIC=0", "NCCL_CROSS_NIC=1"));
}

TEST(NcclTrials, ASettingReplacesWhatItWas) {
  EXPECT_THAT(with_setting({{"A", "1"}, {"B", "2"}}, "A", "3"),
              ElementsAre(testing::Pair("B", "2"), testing::Pair("A", "3")));
}

}  // namespace
}  // namespace collbench::program::nccl_trials_test
