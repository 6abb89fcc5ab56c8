#include "tools/plan/step/fault_cost.hpp"

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "topology/machines/resolve.hpp"

namespace collbench::analysis::fault_words_test {
namespace {

TEST(FaultWords, SayWhichNicIsHowSlow) {
  const SlowNic half = parse_slow_nic("NIC 3 of node 17 at half", "--fault");
  EXPECT_EQ(half.nic, 3);
  EXPECT_EQ(half.node, 17);
  EXPECT_EQ(half.part, 0.5);
  EXPECT_EQ(parse_slow_nic("nic 0 at 12.5 %", "--fault").part, 0.125);
  const SlowNic rate = parse_slow_nic("nic 3 at 200 Gb/s", "--fault");
  EXPECT_EQ(rate.gigabits_per_second, 200);
  EXPECT_FALSE(rate.node || rate.part);
  EXPECT_TRUE(parse_slow_nic("nic 3 of node 17 down", "--fault").down);
  EXPECT_FALSE(rate.down);
  for (const char* wrong :
       {"nic 3 down today", "", "nic", "nic 3", "nic three at half", "nic 3 of node at half",
        "nic 3 at twice", "nic 3 at nan %", "nic 3 at 0 %", "nic 3 at 100 %", "nic -1 at half",
        "nic 3 at -5 Gb/s", "nic 3 at half today", "gpu 3 at half", "nic 99999999999 at half"})
    EXPECT_THROW(static_cast<void>(parse_slow_nic(wrong, "--fault")), Error) << wrong;
}

TEST(FaultWords, SlowThatNicOfTheMachine) {
  const topology::Host host = topology::resolve_machine("hgx-h100").first_host();
  const topology::Host slow = with_slow_nic(host, {.nic = 3, .node = 17, .part = 0.5}, 128, "--fault");
  EXPECT_EQ(slow.nics.at(3).ports.at(0).gigabits_per_second.value, 200);
  EXPECT_EQ(slow.nics.at(2).ports.at(0).gigabits_per_second.value, 400);
  const auto refused = [&](const SlowNic& fault) {
    EXPECT_THROW(static_cast<void>(with_slow_nic(host, fault, 128, "--fault")), Error);
  };
  refused({.nic = 3, .node = 128, .part = 0.5});
  refused({.nic = 8, .part = 0.5});
  refused({.nic = 3, .gigabits_per_second = 400});
}

}  // namespace
}  // namespace collbench::analysis::fault_words_test
