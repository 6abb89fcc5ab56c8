#include "tools/plan/step/fault_cost.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <vector>

#include "base/error.hpp"
#include "tools/plan/job/model_catalog.hpp"
#include "tools/plan/step/plan.hpp"
#include "topology/machines/resolve.hpp"

namespace collbench::analysis::fault_cost_test {
namespace {

struct Fixture {
  topology::ResolvedMachine machine = topology::resolve_machine("hgx-h100");
  GpuCluster node = gpu_cluster(machine, 1, 0);
  PlanRequest request{};
  topology::Host faulty = machine.first_host();

  Fixture() {
    request.model = find_model("llama-3.1-70b").shape;
    request.n_gpus = 1024;
    request.tp = 8, request.pp = 4;
    request.global_batch = 512;
    request.prices_a_day = true;
    request.price_per_gpu_hour = 3;
  }
  [[nodiscard]] FaultCost cost() const {
    return fault_cost(request, training_plan(request, node), node, machine.first_host(), faulty, "bad.json",
                      "--faulty");
  }
};

TEST(FaultCost, ASlowNicMakesTheStepLongerAndIsPaidEveryDay) {
  Fixture fixture;
  fixture.faulty.nics.at(3).ports.at(0).gigabits_per_second.value = 200;
  const FaultCost cost = fixture.cost();
  ASSERT_EQ(cost.findings.size(), 1U);
  ASSERT_TRUE(cost.price);
  const FaultCost::Price& price = *cost.price;
  EXPECT_GT(price.slower, 0);
  EXPECT_LT(price.slower, 1) << "the network is a part of the step";
  const double step = price.step_seconds / (1 + price.slower);
  EXPECT_NEAR(price.tokens_lost_per_day, 86400 * 512 * 4096.0 * (1 / step - 1 / price.step_seconds), 1);
  EXPECT_NEAR(*price.dollars_lost_per_day, 24 * 1024 * 3 * price.slower / (1 + price.slower), 1e-6);
  // As the whole machine with such NICs: the step waits for the slowest link.
  Fixture slow;
  slow.request.nic_gbps_per_gpu = 200;
  EXPECT_NEAR(training_plan(slow.request, slow.node).step_seconds, price.step_seconds,
              1e-9 * price.step_seconds);
}

TEST(FaultCost, ANicThatIsDownEndsTheJobWhichRunsOnWithOneLess) {
  const Fixture fixture;
  const TrainingPlan plan = training_plan(fixture.request, fixture.node);
  const FaultCost cost = cost_of_nic_down(fixture.request, plan, fixture.node, "nic 3 down");
  ASSERT_TRUE(cost.price);
  EXPECT_NEAR(cost.stall_seconds, plan.goodput.interval_seconds / 2 + 600, 1e-6);
  EXPECT_NEAR(*cost.stall_dollars, cost.stall_seconds / 3600 * 1024 * 3, 1e-6);
  // Of eight groups with a NIC each two share one: as half of every NIC's rate.
  Fixture half;
  half.faulty.nics.at(3).ports.at(0).gigabits_per_second.value = 200;
  EXPECT_NEAR(cost.price->step_seconds, half.cost().price->step_seconds, 1e-9 * cost.price->step_seconds);
  // One group over all GPUs of a node has seven of eight.
  Fixture all;
  all.request.tp = 1, all.request.pp = 1, all.request.sharding = Sharding::fsdp_full;
  all.request.global_batch = 1024;
  all.request.may_exceed_memory = true;
  const TrainingPlan sharded = training_plan(all.request, all.node);
  const FaultCost seven = cost_of_nic_down(all.request, sharded, all.node, "nic 3 down");
  EXPECT_GT(seven.price->slower, 0);
  EXPECT_LT(seven.price->slower, 1.0 / 7);
  all.request.n_gpus = 8;
  EXPECT_FALSE(
      cost_of_nic_down(all.request, training_plan(all.request, all.node), all.node, "nic 3 down").price)
      << "one node sends nothing over its NICs";
}

TEST(FaultCost, WhatNoModelKnowsIsNamedAndHasNoPrice) {
  const auto missing_nic = [](topology::Host& host) { host.nics.pop_back(); };
  const auto port_down = [](topology::Host& host) { host.nics.at(3).ports.at(0).state.value = "DOWN"; };
  const auto one_gpu_without_nvlinks = [](topology::Host& host) {
    std::erase_if(host.nvlinks, [](const topology::NvLinkBundle& each) {
      return (each.from.kind == topology::DeviceKind::gpu && each.from.index == 3) ||
             (each.to.kind == topology::DeviceKind::gpu && each.to.index == 3);
    });
  };
  const auto no_nvlinks = [](topology::Host& host) {
    host.nvlinks.clear();
    for (topology::Gpu& gpu : host.gpus) gpu.nvlinks_active.value = 0;
  };
  for (const std::function<void(topology::Host&)>& fault : std::vector<std::function<void(topology::Host&)>>{
           missing_nic, port_down, one_gpu_without_nvlinks, no_nvlinks}) {
    Fixture fixture;
    fault(fixture.faulty);
    const FaultCost cost = fixture.cost();
    EXPECT_TRUE(cost.findings.empty());
    EXPECT_FALSE(cost.price) << "a price of what is not known";
    EXPECT_FALSE(cost.unpriced.empty());
  }
}

TEST(FaultCost, WhatHasNoPriceIsNotInThePriceOfWhatHasOne) {
  Fixture slow;
  slow.faulty.nics.at(3).ports.at(0).gigabits_per_second.value = 200;
  const FaultCost alone = slow.cost();
  slow.faulty.nvlinks.clear();  // not stated, nor how many are active
  for (topology::Gpu& gpu : slow.faulty.gpus) gpu.nvlinks_active = {};
  const FaultCost both = slow.cost();
  ASSERT_TRUE(alone.price && both.price);
  EXPECT_EQ(both.findings, alone.findings);
  EXPECT_DOUBLE_EQ(both.price->step_seconds, alone.price->step_seconds);
}

TEST(FaultCost, AJobThatDoesNotRunIsRefused) {
  Fixture fixture;
  fixture.faulty.gpus.pop_back();
  EXPECT_THROW(static_cast<void>(fixture.cost()), Error);
}

}  // namespace
}  // namespace collbench::analysis::fault_cost_test
