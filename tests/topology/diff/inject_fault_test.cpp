#include "topology/diff/topology_diff.hpp"

#include <gtest/gtest.h>

#include "tests/topology/diff/mutations.hpp"

namespace collbench::topology::inject_fault_test {
namespace {

Host hgx() { return healthy_machine(*find_reference_machine("hgx-h100")); }

/// Two faults: each finding brings its own alone.
TEST(WithFinding, OnlyThatFaultIsTakenOver) {
  const Host healthy = hgx();
  Host sick = healthy;
  sick.gpus[1].nvlinks_active.value = 12;
  sick.gpus[1].mig.value = true;
  sick.nics[2].ports[0].gigabits_per_second.value = 100;
  const HostPair pair = pair_hosts(healthy, sick, false);
  for (const Finding& finding : diff_hosts(pair).findings) {
    const Host one = inject_fault(pair, finding);
    EXPECT_EQ(one.gpus[1].mig.value, finding.code == "mig-on") << finding.code;
    EXPECT_EQ(one.nics[2].ports[0].gigabits_per_second.value, finding.code == "nic-port-slower" ? 100 : 400);
    const auto again = diff_hosts(pair_hosts(healthy, one, false)).findings;
    ASSERT_EQ(again.size(), 1U) << finding.code;
    EXPECT_EQ(again[0].what, finding.what);
  }
}

TEST(WithFinding, EveryFaultOfTheCatalogIsFoundAgain) {
  const Host healthy = hgx();
  for (const Mutation& mutation : mutations_of(healthy)) {
    const HostPair pair = pair_hosts(healthy, mutation.host, false);
    for (const Finding& finding : diff_hosts(pair).findings) {
      const Host one = inject_fault(pair, finding);
      const auto again = diff_hosts(pair_hosts(pair.of(other(finding.side)), one, false)).findings;
      ASSERT_EQ(again.size(), 1U) << mutation.attribute;
      EXPECT_EQ(again[0].code, finding.code);
    }
  }
}

TEST(WithFinding, WhatIsMissingIsTakenAwayWithItsLinks) {
  const Host healthy = hgx();
  const Host without = without_devices(healthy, {{DeviceKind::gpu, 3}});
  EXPECT_EQ(without.gpus.size(), 7U);
  EXPECT_EQ(without.nvlinks.size(), healthy.nvlinks.size() - 4);
  EXPECT_EQ(without.pci_devices.size(), healthy.pci_devices.size() - 1);
  EXPECT_EQ(find_inconsistency(without), "");
  const HostPair pair = pair_hosts(healthy, without, false);
  EXPECT_EQ(inject_fault(pair, diff_hosts(pair).findings.at(0)), without);
}

TEST(WithFinding, APortOfACardThatStaysKeepsTheFunction) {
  Host host = hgx();
  host.nics.push_back(host.nics[0]);
  EXPECT_EQ(without_devices(host, {{DeviceKind::nic, 8}}).pci_devices.size(), host.pci_devices.size());
}

}  // namespace
}  // namespace collbench::topology::inject_fault_test
