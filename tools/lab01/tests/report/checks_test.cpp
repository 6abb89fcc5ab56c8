#include "tools/lab01/report/lab01.hpp"

#include <gmock/gmock.h>

#include "tools/lab01/tests/report/runs.hpp"

namespace collbench::analysis::checks_test {
namespace {

TEST(Lab01Checks, WhatNobodySaysIsNotKnown) {
  const auto checks = lab01_checks(lab01_gpu_run(), std::nullopt);
  ASSERT_EQ(checks.size(), 4U);
  EXPECT_FALSE(checks[0].good);
  EXPECT_FALSE(checks[1].good);
  EXPECT_FALSE(checks[2].good);
  EXPECT_EQ(checks[3].answer, "checked in 2 of 2 rows, none wrong");
}

TEST(Lab01Checks, SocketsAreNotGood) {
  auto run = lab01_gpu_run();
  run.log->network = {"Socket", 22};
  EXPECT_FALSE(lab01_checks(run, std::nullopt)[1].good);
  run.log->network = {"IB", 22};
  EXPECT_TRUE(lab01_checks(run, std::nullopt)[1].good);
  run.log->gpu_direct = {false, 40};
  EXPECT_FALSE(lab01_checks(run, std::nullopt)[2].good);
}

TEST(Lab01Checks, APortThatIsDownIsNamed) {
  auto host = hgx_h100();
  // What a machine of that kind has says nothing of this one.
  EXPECT_FALSE(lab01_checks(lab01_gpu_run(), host)[0].good);
  host->sources[0].reader = "nvidia-smi topo -m";
  EXPECT_TRUE(lab01_checks(lab01_gpu_run(), host)[0].good);
  host->nics[2].ports[0].state = {"DOWN", 0};
  const auto check = lab01_checks(lab01_gpu_run(), host)[0];
  EXPECT_FALSE(check.good);
  EXPECT_NE(check.answer.find("DOWN"), std::string::npos);
}

TEST(Lab01Checks, UnevenNvlinksOnOneNode) {
  auto run = lab01_gpu_run();
  run.log->nodes = {1, 3};
  run.log->nvlink_least_bytes_per_second = {20e9, 89};
  run.log->nvlink_most_bytes_per_second = {240e9, 92};
  const auto checks = lab01_checks(run, std::nullopt);
  ASSERT_EQ(checks.size(), 2U);  // no question about a network
  EXPECT_FALSE(checks[0].good);
}

TEST(Lab01Checks, OneHostOfOurOwnRunHasNoNetworkToAskFor) {
  auto run = lab01_gpu_run();
  run.log.reset();
  EXPECT_EQ(lab01_checks(run, std::nullopt).size(), 4U);
  for (Identity& rank : run.ranks) rank.node = 0;
  EXPECT_EQ(lab01_checks(run, std::nullopt).size(), 1U);
}

TEST(Lab01Checks, RanksWithoutACoreOfTheirOwn) {
  auto run = lab01_gpu_run();
  run.backend = BackendId::mpi;
  run.cores_per_node = {8, 4};
  EXPECT_FALSE(lab01_checks(run, std::nullopt)[0].good);
  run.cores_per_node = {8, 8};
  EXPECT_TRUE(lab01_checks(run, std::nullopt)[0].good);
  run.load_notes = {"vm: other processes kept 1.5 of its 2 hardware threads busy"};
  EXPECT_THAT(lab01_checks(run, {})[0].answer, testing::HasSubstr("not exclusively: vm: other processes"));
  EXPECT_FALSE(lab01_checks(run, {})[0].good);
}

}  // namespace
}  // namespace collbench::analysis::checks_test
