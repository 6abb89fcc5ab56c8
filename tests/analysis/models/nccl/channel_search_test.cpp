#include "analysis/models/nccl/channel_search.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include "tests/analysis/models/nccl/nccl_plans.hpp"

namespace collbench::analysis::channel_search_test {
namespace {

NodePlan plan_of(const topology::Host& host, const NcclSettings& settings) {
  std::vector<int> nics(host.nics.size());
  std::iota(nics.begin(), nics.end(), 0);
  std::erase_if(nics, [&](int nic) {
    return host.nics[static_cast<std::size_t>(nic)].ports[0].state.value_or("") == "DOWN";
  });
  return plan_channels(machine_graph(host, static_cast<int>(host.gpus.size()), nics), true, settings);
}

std::string text(int channels, float within, float across) {
  return fmt::format("{}x{:g}/{:g}", channels, within, across);
}

std::string text(const SeenPlan& plan) { return text(plan.channels, plan.within_node, plan.across_nodes); }

std::string text(const ChannelPlan& plan) { return text(plan.channels, plan.within_node, plan.across_nodes); }

class ChannelSearchOf : public testing::TestWithParam<const char*> {};

TEST_P(ChannelSearchOf, FaultyMachinesFindsWhatNcclsOwnSearchFinds) {
  int faults = 0;
  for (const SeenNode& seen : seen_nodes()) {
    if (seen.machine != GetParam()) continue;
    faults += seen.fault == "none" ? 0 : 1;
    const topology::Host host =
        with_fault(topology::reference_host(*topology::find_reference_machine(seen.machine)), seen.fault);
    const NodePlan found = plan_of(host, seen.settings);
    EXPECT_EQ(text(found.ring), text(seen.ring)) << seen.what();
    EXPECT_EQ(text(found.tree), text(seen.tree)) << seen.what();
    EXPECT_EQ(text(found.nvls), text(seen.nvls)) << seen.what();
  }
  EXPECT_GE(faults, 40);
}

INSTANTIATE_TEST_SUITE_P(Machines, ChannelSearchOf,
                         testing::Values("hgx-h100", "hgx-a100", "hgx-b200", "ndv4", "p4de"),
                         [](const auto& machine) {
                           std::string name = machine.param;
                           std::erase(name, '-');
                           return name;
                         });

TEST(ChannelSearch, IsComparedWithThreeHundredFaults) {
  const std::vector<SeenNode> all = seen_nodes();
  EXPECT_EQ(std::count_if(all.begin(), all.end(), [](const SeenNode& seen) { return seen.fault != "none"; }),
            300);
}

TEST(ChannelSearch, EachChannelPassesEveryGpuOnce) {
  const NodePlan plan =
      plan_of(topology::reference_host(*topology::find_reference_machine("hgx-h100")), NcclSettings{});
  ASSERT_EQ(plan.ring.gpus.size(), 8U);
  for (std::size_t c = 0; c < plan.ring.gpus.size(); ++c) {
    std::vector<int> gpus = plan.ring.gpus[c];
    std::sort(gpus.begin(), gpus.end());
    EXPECT_EQ(gpus, (std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7}));
    EXPECT_EQ(plan.ring.gpus[c].front(), plan.ring.nets[c].first);  // beside the NIC that it comes in by
    EXPECT_EQ(plan.ring.gpus[c].back(), plan.ring.nets[c].second);
  }
}

TEST(ChannelSearch, RanksAgreeOnTheLeastOfBoth) {
  NodePlan a;
  a.ring = {.channels = 15, .within_node = 24, .across_nodes = 24};
  a.tree = {.channels = 15, .within_node = 24, .across_nodes = 24};
  a.nvls = {.channels = 7, .within_node = 45, .across_nodes = 48};
  NodePlan b;
  b.ring = {.channels = 8, .within_node = 48, .across_nodes = 48};
  b.tree = {.channels = 8, .within_node = 48, .across_nodes = 48};
  b.nvls = {.channels = 8, .within_node = 40, .across_nodes = 48};
  const NodePlan both = agreed(a, b);
  EXPECT_EQ(text(both.ring), "8x24/24");
  EXPECT_EQ(text(both.tree), "8x24/24");
  EXPECT_EQ(text(both.nvls), "7x40/48");
}

TEST(ChannelSearch, WithoutAPciTreeThereIsNoGraph) {
  topology::Host host = topology::reference_host(*topology::find_reference_machine("hgx-h100"));
  host.pci_devices.clear();
  EXPECT_TRUE(machine_graph(host, 8, {0}).nodes.empty());
  EXPECT_EQ(plan_channels({}, true, {}).ring.channels, 0);
}

}  // namespace
}  // namespace collbench::analysis::channel_search_test
