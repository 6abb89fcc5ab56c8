#include "topology/diff/finding.hpp"

#include <gtest/gtest.h>

#include "topology/diff/topology_diff.hpp"
#include "topology/machines/reference_machines.hpp"

namespace collbench::topology::finding_test {
namespace {

const Host& hgx() {
  static const Host host = reference_host(*find_reference_machine("hgx-h100"));
  return host;
}

TEST(FindingList, TheSameOfSeveralDevicesIsOneFinding) {
  const HostPair pair = pair_hosts(hgx(), hgx(), false);
  FindingList list(pair);
  list.add("mig-on", Side::b, {pair.match.gpus[0]}, "MIG mode is on");
  list.add("mig-on", Side::b, {pair.match.gpus[1]}, "MIG mode is on");
  list.add("mig-on", Side::a, {pair.match.gpus[1]}, "MIG mode is on");
  list.add("mig-on", Side::b, {pair.match.gpus[2]}, "7 MIG devices instead of 0");
  const std::vector<Finding> findings = list.take();
  ASSERT_EQ(findings.size(), 3U);
  EXPECT_EQ(findings[0].device, "GPU0 (0000:02:00.0) and GPU1 (0000:05:00.0)");
  EXPECT_EQ(findings[0].devices.size(), 2U);
}

TEST(FindingList, TheWorstComesFirst) {
  const HostPair pair = pair_hosts(hgx(), hgx(), false);
  FindingList list(pair);
  list.add_named("product", Side::b, "product", {}, "x");
  list.add_named("fabric-manager", Side::b, "fabric manager", {}, "failed");
  list.add("acs-on", Side::b, {pair.match.gpus[0]}, "on");
  const std::vector<Finding> findings = list.take();
  EXPECT_EQ(findings[0].code, "fabric-manager");
  EXPECT_EQ(findings[2].code, "product");
}

TEST(FindingList, NamesADeviceOnceWithItsAddress) {
  EXPECT_EQ(finding_device(hgx(), {DeviceKind::gpu, 1}), "GPU1 (0000:05:00.0)");
  EXPECT_EQ(finding_device(hgx(), {DeviceKind::nvswitch, 0}), "NVSwitch 0000:19:00.0");
  EXPECT_EQ(finding_device(hgx(), {DeviceKind::numa_node, 1}), "NUMA 1");
}

TEST(FindingList, WordsAreJoinedAsInASentence) {
  EXPECT_EQ(join_words({}), "");
  EXPECT_EQ(join_words({"a"}), "a");
  EXPECT_EQ(join_words({"a", "b"}), "a and b");
  EXPECT_EQ(join_words({"a", "b", "c"}), "a, b and c");
}

}  // namespace
}  // namespace collbench::topology::finding_test
