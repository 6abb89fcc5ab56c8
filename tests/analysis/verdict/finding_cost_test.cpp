#include "analysis/verdict/finding_cost.hpp"

#include <gtest/gtest.h>

#include "analysis/models/nccl/gpu_cluster.hpp"
#include "analysis/models/nccl/gpu_expectation.hpp"
#include "base/units.hpp"
#include "tests/topology/diff/mutations.hpp"
#include "topology/diff/topology_diff.hpp"

namespace collbench::analysis::finding_cost_test {
namespace {

struct Predicted {
  double best = 0;  ///< GB/s
  double ring = 0;
};

/// As predict computes it, from the file of a node.
Predicted predicted(const topology::Host& host, int nodes) {
  const GpuCluster cluster = gpu_cluster(host, nodes, 0, "host");
  const Expectation expected = expect_on_gpus(OperationId::all_reduce, 8 * kGiB, cluster);
  const auto rate = [&cluster](std::optional<double> seconds) {
    if (!seconds) return 0.0;
    return bus_bandwidth(operation(OperationId::all_reduce), 8 * kGiB, cluster.ranks(), *seconds) / kGigabyte;
  };
  return {rate(expected.expected_seconds), rate(expected.ring_seconds)};
}

void expect_the_predictions_difference(const topology::Host& healthy, const topology::Host& faulty,
                                       const std::string& what) {
  const topology::HostPair pair = topology::pair_hosts(healthy, faulty, false);
  for (const topology::Finding& finding : topology::diff_hosts(pair).findings) {
    // The models know the worse of two, whichever it is; a slot that b has more is no loss of a.
    const topology::Host& better = pair.of(topology::other(finding.side));
    const topology::Host& worse = pair.of(finding.side);
    for (const FindingCost& cost : finding_costs(pair, finding)) {
      const Predicted whole = predicted(better, cost.nodes);
      const Predicted left = predicted(worse, cost.nodes);
      const std::string where = fmt::format("{} as {} on {}", what, finding.code, cost.nodes);
      EXPECT_NEAR(cost.lost(), whole.best - left.best, 1e-6) << where;
      EXPECT_NEAR(cost.healthy.ring.value_or(0), whole.ring, 1e-6) << where;
      EXPECT_NEAR(cost.faulty.ring.value_or(0), left.ring, 1e-6) << where;
    }
  }
}

TEST(FindingCost, AgreesWithPredictForEveryAttributeOfEveryReferenceMachine) {
  for (const topology::ReferenceMachine& machine : topology::reference_machines()) {
    const topology::Host healthy = topology::healthy_machine(machine);
    for (const topology::Mutation& mutation : topology::mutations_of(healthy)) {
      expect_the_predictions_difference(healthy, mutation.host,
                                        fmt::format("{} {}", machine.name, mutation.attribute));
    }
  }
}

TEST(FindingCost, AgreesWithPredictForEveryDeviceThatIsMissing) {
  for (const topology::ReferenceMachine& machine : topology::reference_machines()) {
    const topology::Host healthy = topology::healthy_machine(machine);
    for (const topology::Device& device :
         {topology::Device{topology::DeviceKind::gpu, 1}, topology::Device{topology::DeviceKind::nic, 0},
          topology::Device{topology::DeviceKind::nvswitch, 0}}) {
      if (device.kind == topology::DeviceKind::nic && healthy.nics.empty()) continue;
      if (device.kind == topology::DeviceKind::nvswitch && healthy.nvswitches.empty()) continue;
      expect_the_predictions_difference(healthy, topology::without_devices(healthy, {device}),
                                        std::string(machine.name));
    }
  }
}

TEST(FindingCost, AFewerNvLinkCostsOnOneNodeAndASlowNicOnTwo) {
  const topology::Host healthy = topology::healthy_machine(*topology::find_reference_machine("hgx-h100"));
  topology::Host sick = healthy;
  for (topology::Gpu& gpu : sick.gpus) gpu.nvlinks_active.value = 9;
  for (topology::Nic& nic : sick.nics) nic.ports[0].gigabits_per_second.value = 200;
  const topology::HostPair pair = topology::pair_hosts(healthy, sick, false);
  int seen = 0;
  for (const topology::Finding& finding : topology::diff_hosts(pair).findings) {
    const auto costs = finding_costs(pair, finding);
    ASSERT_EQ(costs.size(), 2U);
    if (finding.code == "nvlink-fewer") {
      ++seen;
      EXPECT_NEAR(*costs[0].faulty.ring, *costs[0].healthy.ring / 2, 0.02 * *costs[0].healthy.ring);
    }
    if (finding.code == "nic-port-slower") {
      ++seen;
      EXPECT_FALSE(costs[0].changes());
      EXPECT_LT(*costs[1].faulty.ring, 0.6 * *costs[1].healthy.ring);  // from the NVLinks' rate to the NICs'
    }
  }
  EXPECT_EQ(seen, 2);
}

TEST(FindingCost, WhatCannotBeModelledHasNoCost) {
  EXPECT_EQ(predicted_rates(topology::Host{}, 1), PredictedRates{});
  const topology::Host node = topology::healthy_machine(*topology::find_reference_machine("hgx-h100"));
  EXPECT_TRUE(predicted_rates(node, 2).ring.has_value());
}

TEST(FindingCost, AReferenceMachineHasItsOwnTransport) {
  const topology::ReferenceMachine& p5 = *topology::find_reference_machine("p5");
  const GpuCluster cluster = gpu_cluster(p5, 2, 0);
  const Expectation expected = expect_on_gpus(OperationId::all_reduce, 8 * kGiB, cluster);
  EXPECT_NEAR(
      *predicted_rates(topology::reference_host(p5), 2).ring,
      bus_bandwidth(operation(OperationId::all_reduce), 8 * kGiB, 16, *expected.ring_seconds) / kGigabyte,
      1e-9);
}

}  // namespace
}  // namespace collbench::analysis::finding_cost_test
