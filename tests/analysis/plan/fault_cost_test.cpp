#include "analysis/plan/fault_cost.hpp"

#include <gtest/gtest.h>

#include "analysis/plan/model_catalog.hpp"
#include "analysis/plan/plan.hpp"
#include "base/error.hpp"
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
    return fault_cost(request, training_plan(request, node), node, machine.first_host(), faulty, "bad.json");
  }
};

TEST(FaultCost, ASlowNicMakesTheStepLongerAndIsPaidEveryDay) {
  Fixture fixture;
  fixture.faulty.nics.at(3).ports.at(0).gigabits_per_second.value = 200;
  const FaultCost cost = fixture.cost();
  ASSERT_EQ(cost.findings.size(), 1U);
  EXPECT_GT(cost.slower, 0);
  EXPECT_LT(cost.slower, 1) << "the network is a part of the step";
  const double step = cost.step_seconds / (1 + cost.slower);
  EXPECT_NEAR(cost.tokens_lost_per_day, 86400 * 512 * 4096.0 * (1 / step - 1 / cost.step_seconds), 1);
  EXPECT_NEAR(*cost.dollars_lost_per_day, 24 * 1024 * 3 * cost.slower / (1 + cost.slower), 1e-6);
  // As the whole machine with such NICs: the step waits for the slowest link.
  Fixture slow;
  slow.request.nic_gbps_per_gpu = 200;
  EXPECT_NEAR(training_plan(slow.request, slow.node).step_seconds, cost.step_seconds,
              1e-9 * cost.step_seconds);
}

TEST(FaultCost, WhatNoModelKnowsIsNamedAndCostsNothing) {
  Fixture fixture;
  fixture.faulty.nics.pop_back();
  const FaultCost cost = fixture.cost();
  EXPECT_TRUE(cost.findings.empty());
  EXPECT_FALSE(cost.unpriced.empty());
  EXPECT_DOUBLE_EQ(cost.slower, 0);
}

TEST(FaultCost, AJobThatDoesNotRunIsRefused) {
  Fixture fixture;
  fixture.faulty.gpus.pop_back();
  EXPECT_THROW(static_cast<void>(fixture.cost()), Error);
}

}  // namespace
}  // namespace collbench::analysis::fault_cost_test
