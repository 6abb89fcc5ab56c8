#include "topology/graph/device_slots.hpp"

#include <gtest/gtest.h>

#include "topology/machines/reference_machines.hpp"

namespace collbench::topology::device_slots_test {
namespace {

constexpr Device gpu(int index) { return {DeviceKind::gpu, index}; }
constexpr Device nic(int index) { return {DeviceKind::nic, index}; }

Host machine(const char* name) { return reference_host(*find_reference_machine(name)); }

TEST(DeviceSlots, NearnessIsBySwitchThenByNode) {
  const Host host = machine("hgx-h100");
  EXPECT_EQ(nearness(host, gpu(0), nic(0)), Nearness::one_switch);
  EXPECT_EQ(nearness(host, gpu(0), nic(1)), Nearness::one_node);
  EXPECT_EQ(nearness(host, gpu(0), gpu(7)), Nearness::far);
}

TEST(DeviceSlots, WhatASourceStatesComesFirstAndNvLinkIsNoNearness) {
  Host host = machine("hgx-h100");
  host.stated_paths.push_back({gpu(0), nic(0), {PathType::sys}, {}});
  host.stated_paths.push_back({gpu(0), gpu(1), {PathType::nvl}, {18}});
  EXPECT_EQ(nearness(host, gpu(0), nic(0)), Nearness::far);
  EXPECT_EQ(nearness(host, gpu(0), gpu(1)), Nearness::one_node);
  Host unknown;
  unknown.gpus.resize(2);
  EXPECT_EQ(nearness(unknown, gpu(0), gpu(1)), Nearness::unknown);
}

TEST(DeviceSlots, NvLinksAreThoseOfTheListElseOfTheMatrix) {
  Host host = machine("dgx-1v");
  EXPECT_EQ(wired_nvlinks(host, gpu(0), gpu(3)), 2);
  EXPECT_EQ(wired_nvlinks(host, gpu(0), gpu(5)), 0);
  host.nvlinks.clear();
  host.stated_paths.push_back({gpu(0), gpu(3), {PathType::nvl}, {1}});
  EXPECT_EQ(wired_nvlinks(host, gpu(0), gpu(3)), 1);
  EXPECT_EQ(wired_nvlinks(host, gpu(3), gpu(0)), 0);
}

TEST(DeviceSlots, StandInAnOrderThatDoesNotGoByTheListing) {
  Host host = machine("hgx-h100");
  const SlotPlan plan = slot_plan(host);
  std::swap(host.nics[1], host.nics[6]);
  const SlotPlan listed_otherwise = slot_plan(host);
  ASSERT_EQ(plan.slots.size(), 8U + 4U + 8U);
  for (std::size_t i = 0; i < plan.slots.size(); ++i)
    EXPECT_EQ(plan.slots[i].address, listed_otherwise.slots[i].address);
  EXPECT_EQ(plan.slots[0].model, "H100 SXM");
  EXPECT_EQ(plan.slots[8].device.kind, DeviceKind::nvswitch);
  EXPECT_EQ(plan.slots[12].model, "fast");
  EXPECT_EQ(plan.near[0][12], Nearness::one_switch);
  EXPECT_EQ(plan.nvlinks[0][8], 5);
  EXPECT_EQ(plan.nvlinks[8][0], 0);
}

}  // namespace
}  // namespace collbench::topology::device_slots_test
