#include "analysis/verdict/finding_cost.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>

#include "analysis/models/nccl/gpu_cluster.hpp"
#include "analysis/models/nccl/gpu_expectation.hpp"
#include "analysis/models/nccl/nic_channels.hpp"
#include "base/files.hpp"
#include "base/units.hpp"
#include "tests/analysis/models/nccl/nccl_plans.hpp"
#include "tests/analysis/verdict/damaged_machines.hpp"
#include "tests/source_folder.hpp"
#include "tests/topology/diff/mutations.hpp"
#include "topology/catalog/finding_kinds.hpp"
#include "topology/catalog/links.hpp"
#include "topology/diff/topology_diff.hpp"

namespace collbench::analysis::finding_cost_test {
namespace {

constexpr topology::Device gpu(int index) { return {topology::DeviceKind::gpu, index}; }

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

/// GB/s of a healthy machine's rings; 0: it cannot be modeled.
double ring_rate(const topology::Host& host, int nodes) {
  for (const FindingCost& cost : machine_costs(host, host, false))
    if (cost.nodes == nodes) return cost.healthy.ring.value_or(0);
  return 0;
}

/// And each finding has a price or a reason for none.
void expect_the_predictions_difference(const topology::Host& healthy, const topology::Host& faulty,
                                       const std::string& what) {
  const topology::HostPair pair = topology::pair_hosts(healthy, faulty, false);
  for (const topology::Finding& finding : topology::diff_hosts(pair).findings) {
    // The models know the worse of two, whichever it is; a slot that b has more is no loss of a.
    const topology::Host& better = pair.of(topology::other(finding.side));
    const topology::Host& worse = pair.of(finding.side);
    const FindingPrice price = finding_price(pair, finding);
    const bool shows = std::any_of(price.costs.begin(), price.costs.end(),
                                   [](const FindingCost& cost) { return cost.changes(); });
    EXPECT_TRUE(shows || price.kind == PriceKind::priced || !price.reason.empty())
        << what << " " << finding.code;
    for (const FindingCost& cost : as_on_every_node(finding_costs(pair, finding))) {
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

TEST(FindingCost, OneGpuWithFewerNvLinksCostsOnOneNodeAndOneSlowNicOnTwo) {
  const topology::Host healthy = topology::healthy_machine(*topology::find_reference_machine("hgx-h100"));
  topology::Host sick = healthy;
  sick.gpus[3].nvlinks_active.value = 9;
  sick.nics[2].ports[0].gigabits_per_second.value = 200;
  const topology::HostPair pair = topology::pair_hosts(healthy, sick, false);
  int seen = 0;
  for (const topology::Finding& finding : topology::diff_hosts(pair).findings) {
    const auto costs = finding_costs(pair, finding);
    ASSERT_GE(costs.size(), 2U);
    if (finding.code == "nvlink-fewer") {
      ++seen;
      EXPECT_NEAR(*costs[0].faulty.ring, *costs[0].healthy.ring / 2, 0.02 * *costs[0].healthy.ring);
    }
    if (finding.code == "nic-port-slower") {
      ++seen;
      EXPECT_FALSE(costs[0].changes());
      EXPECT_LT(*costs[1].faulty.ring, 0.6 * *costs[1].healthy.ring);
    }
  }
  EXPECT_EQ(seen, 2);
}

/// Each alone costs an eighth; what is left when they are all gone is not seven times that.
TEST(FindingCost, AllDevicesThatAreMissingAreOneFindingWithOnePrice) {
  const topology::Host healthy = topology::reference_host(*topology::find_reference_machine("hgx-h100"));
  for (const std::size_t left : {7U, 4U, 1U}) {
    topology::Host faulty = healthy;
    faulty.nics.resize(left);
    const topology::HostPair pair = topology::pair_hosts(healthy, faulty, true);
    const auto findings = topology::diff_hosts(pair).findings;
    ASSERT_EQ(findings.size(), 1U);
    EXPECT_EQ(findings.front().code, "nic-missing");
    EXPECT_EQ(findings.front().devices.size(), 8 - left);
    const FindingPrice price = finding_price(pair, findings.front());
    const auto two_nodes = std::find_if(price.costs.begin(), price.costs.end(),
                                        [](const FindingCost& cost) { return cost.nodes == 2; });
    ASSERT_NE(two_nodes, price.costs.end());
    const double share = *two_nodes->faulty.ring / *two_nodes->healthy.ring;
    EXPECT_NEAR(share, static_cast<double>(left) / 8, 0.03) << left;
  }
}

/// A file may list the active links, where each leads, or both; the same loss costs the same in each.
TEST(FindingCost, LinksLostToSwitchesCostTheSameHoweverTheyAreListed) {
  const topology::Host healthy = topology::reference_host(*topology::find_reference_machine("hgx-h100"));
  topology::Host both = healthy;
  both.gpus[3].nvlinks_active.value = 14;
  for (topology::NvLinkBundle& bundle : both.nvlinks)
    if (bundle.from == topology::Device{topology::DeviceKind::gpu, 3}) --*bundle.count.value;
  topology::Host by_switch = both;
  for (topology::Gpu& gpu : by_switch.gpus) gpu.nvlinks_active.value.reset();
  topology::Host contradictory = both;
  contradictory.gpus[3].nvlinks_active.value = 18;
  std::vector<double> best;
  for (const topology::Host* faulty : {&both, &by_switch, &contradictory}) {
    const topology::HostPair pair = topology::pair_hosts(healthy, *faulty, true);
    const auto findings = topology::diff_hosts(pair).findings;
    ASSERT_FALSE(findings.empty());
    EXPECT_EQ(findings.front().code, "nvlink-fewer");
    const auto costs = finding_costs(pair, findings.front());
    ASSERT_FALSE(costs.empty());
    best.push_back(*costs.front().faulty.best / *costs.front().healthy.best);
    EXPECT_EQ(findings.size(), 1U);
  }
  // The file that contradicts itself is told so by topo show.
  EXPECT_EQ(topology::nvlink_disagreements(contradictory).size(), 1U);
  EXPECT_TRUE(topology::nvlink_disagreements(both).empty());
  EXPECT_NEAR(best[0], 14.0 / 18, 0.005);
  EXPECT_EQ(best[1], best[0]);
  EXPECT_EQ(best[2], best[0]);
}

TEST(FindingCost, WhatCannotBeModeledHasNoCost) {
  EXPECT_TRUE(machine_costs(topology::Host{}, topology::Host{}, false).empty());
  const topology::Host node = topology::healthy_machine(*topology::find_reference_machine("hgx-h100"));
  EXPECT_GT(ring_rate(node, 2), 0);
}

TEST(FindingCost, AReferenceMachineHasItsOwnTransport) {
  const topology::ReferenceMachine& p5 = *topology::find_reference_machine("p5");
  const GpuCluster cluster = gpu_cluster(p5, 2, 0);
  const Expectation expected = expect_on_gpus(OperationId::all_reduce, 8 * kGiB, cluster);
  EXPECT_NEAR(
      ring_rate(topology::reference_host(p5), 2),
      bus_bandwidth(operation(OperationId::all_reduce), 8 * kGiB, 16, *expected.ring_seconds) / kGigabyte,
      1e-9);
}

TEST(FindingCost, OneNicIsMonotoneInItsDamageOnEveryReferenceMachine) {
  for (const topology::ReferenceMachine& machine : topology::reference_machines()) {
    const topology::Host healthy = topology::reference_host(machine);
    if (healthy.nics.empty()) continue;
    const double efficiency = traits(gpu_cluster(machine, 2, 0).transport).efficiency;
    for (const std::size_t nic : {std::size_t{0}, healthy.nics.size() - 1}) {
      std::vector<Damaged> steps;
      for (const double part : kPartsOfTheRate) {
        const std::string what = fmt::format("{} NIC {} at {}", machine.name, nic, word(part));
        steps.push_back(damaged(machine, with_nic_at(healthy, nic, part)));
        expect_no_less_than_the_slowest_costs(machine, steps.back(),
                                              machine.nic_gigabits / 8 * part * efficiency, what);
      }
      expect_monotone(steps, fmt::format("{} rate of NIC {}", machine.name, nic));
      std::vector<Damaged> narrow;
      const topology::Device device{topology::DeviceKind::nic, static_cast<int>(nic)};
      for (const int width : kWidths) {
        narrow.push_back(damaged(machine, with_narrow_pcie(healthy, device, width)));
        expect_no_less_than_the_slowest_costs(
            machine, narrow.back(),
            topology::pcie_rate(machine.nic_gigatransfers, width).gigabytes_per_second,
            fmt::format("{} NIC {} x{}", machine.name, nic, width));
      }
      expect_monotone(narrow, fmt::format("{} PCIe of NIC {}", machine.name, nic));
    }
  }
}

TEST(FindingCost, OneGpuIsMonotoneInItsDamageAndAnyGpuCostsTheSame) {
  for (const topology::ReferenceMachine& machine : topology::reference_machines()) {
    const topology::Host healthy = topology::reference_host(machine);
    std::vector<std::vector<Damaged>> by_gpu;
    for (const std::size_t gpu : {std::size_t{0}, healthy.gpus.size() - 1}) {
      std::vector<Damaged>& steps = by_gpu.emplace_back();
      const topology::Device device{topology::DeviceKind::gpu, static_cast<int>(gpu)};
      for (const int width : kWidths)
        steps.push_back(damaged(machine, with_narrow_pcie(healthy, device, width)));
      expect_monotone(steps, fmt::format("{} PCIe of GPU {}", machine.name, gpu));
    }
    for (std::size_t i = 0; i < by_gpu[0].size(); ++i) {
      for (const CostCase when : {CostCase::at_start, CostCase::during_job}) {
        EXPECT_EQ(by_gpu[0][i].ring(when), by_gpu[1][i].ring(when)) << machine.name << " x" << kWidths.at(i);
      }
    }
  }
}

TEST(FindingCost, OneGpuWithFewerNvLinksIsMonotoneAndAnyGpuCostsTheSame) {
  for (const topology::ReferenceMachine& machine : topology::reference_machines()) {
    if (machine.wiring != topology::NvLinkWiring::switches) continue;
    const topology::Host healthy = topology::reference_host(machine);
    const double one_link =
        topology::traits(gpu_cluster(machine, 1, 0).generation).achieved_nvlink.gigabytes_per_second;
    double before = 1e9;
    for (const int missing : {1, 2, 4, 5, 6, 9, 12, 17}) {
      const int links = machine.nvlinks_per_gpu - missing;
      if (links < 1) break;
      std::vector<double> rates;
      for (const std::size_t gpu : {std::size_t{0}, healthy.gpus.size() - 1}) {
        topology::Host host = healthy;
        host.gpus.at(gpu).nvlinks_active.value = links;
        rates.push_back(damaged(machine, host).ring(CostCase::at_start, true).value_or(0));
      }
      EXPECT_EQ(rates[0], rates[1]) << machine.name;
      EXPECT_LE(rates[0], before) << machine.name;
      EXPECT_LE(rates[0], links * one_link) << machine.name;
      before = rates[0];
    }
  }
}

TEST(FindingCost, OneNvLinkOfAPairIsMonotoneWhereGpusAreWiredToEachOther) {
  for (const topology::ReferenceMachine& machine : topology::reference_machines()) {
    const topology::Host healthy = topology::reference_host(machine);
    for (const topology::ReferencePair& wired : machine.pairs) {
      const double whole = ring_rate(healthy, 1);
      double before = whole;
      for (int links = wired.links - 1; links >= 0; --links) {
        topology::Host host = healthy;
        for (topology::NvLinkBundle& bundle : host.nvlinks) {
          const bool forth = bundle.from.index == wired.a && bundle.to.index == wired.b;
          const bool back = bundle.from.index == wired.b && bundle.to.index == wired.a;
          if (forth || back) bundle.count.value = links;
        }
        const double left = ring_rate(host, 1);
        EXPECT_LE(left, before) << machine.name << " " << wired.a << "-" << wired.b;
        before = left;
      }
      if (gpu_cluster(machine, 1, 0).nvlinks > 0) {
        EXPECT_LT(before, whole) << machine.name;
      }
    }
  }
}

/// A port at half its rate, and a slot with half the lanes, of the same NIC.
TEST(FindingCost, ASlowPortAndAHalvedPcieLinkOfOneNicCostTheSame) {
  const topology::ReferenceMachine& machine = *topology::find_reference_machine("hgx-h100");
  const topology::Host healthy = topology::reference_host(machine);
  const double whole = ring_rate(healthy, 2);
  const Damaged port = damaged(machine, with_nic_at(healthy, 7, 0.5));
  const Damaged slot = damaged(machine, with_fault(healthy, "nic 7 width 8"));
  for (const CostCase when : {CostCase::at_start, CostCase::all_nodes}) {
    EXPECT_NEAR(*port.ring(when), *slot.ring(when), 0.01) << cost_case_text(when);
  }
  // The time of a ramp and a latency is the same at every rate: 1 part in 250 of the whole at half of it.
  EXPECT_NEAR(*port.ring(CostCase::at_start), whole / 2, 0.004 * whole);  // 8 × 24 of 8 × 48
  EXPECT_NEAR(*port.ring(CostCase::all_nodes), whole * 15 / 16, 0.004 * whole);
  EXPECT_NEAR(*port.ring(CostCase::during_job), 8 * 23.75, 1);
  EXPECT_NEAR(*slot.ring(CostCase::during_job), 8 * 24, 1);
  const Damaged dropped = damaged(machine, with_nic_at(healthy, 7, 0.25));
  EXPECT_NEAR(*dropped.ring(CostCase::at_start), whole * 7 / 8, 0.004 * whole);
  EXPECT_NEAR(*dropped.ring(CostCase::during_job), 8 * 11.875, 1);
  // Which NIC it is decides, too: the search closes no ring at 24 GB/s through this one (libnccl 2.30.7 says
  // so).
  const Damaged other = damaged(machine, with_nic_at(healthy, 2, 0.5));
  EXPECT_NEAR(*other.ring(CostCase::at_start), whole * 7 / 8, 0.004 * whole);
}

/// NCCL reads what a NIC's link could be, so no plan avoids one that came up with half its lanes.
TEST(FindingCost, ANicWhoseLinkCameUpNarrowSlowsEveryChannelFromTheStart) {
  const topology::ReferenceMachine& machine = *topology::find_reference_machine("hgx-h100");
  const topology::Host healthy = topology::reference_host(machine);
  const topology::Host narrow = with_narrow_pcie(healthy, {topology::DeviceKind::nic, 2}, 8);
  const Damaged link = damaged(machine, narrow);
  for (const CostCase when : {CostCase::at_start, CostCase::all_nodes, CostCase::during_job}) {
    EXPECT_NEAR(*link.ring(when), 8 * 24, 1) << cost_case_text(when);
  }
  const topology::HostPair pair = topology::pair_hosts(healthy, narrow, true);
  EXPECT_THAT(finding_price(pair, topology::diff_hosts(pair).findings.at(0)).advice,
              testing::StartsWith("until it is repaired leave it out"));
}

TEST(FindingCost, ANicBehindTheCpuIsNotUsedAndSaysSo) {
  topology::Host healthy = topology::healthy_machine(*topology::find_reference_machine("hgx-h100"));
  for (topology::Gpu& gpu : healthy.gpus) gpu.c2c_links.value = 0;  // with C2C the CPU is no detour (P2C)
  topology::Host apart = healthy;
  for (topology::StatedPath& path : apart.stated_paths) {
    if (path.from.index == 2 && path.to.index == 2) path.type.value = topology::PathType::sys;
  }
  const topology::HostPair pair = topology::pair_hosts(healthy, apart, false);
  const auto findings = topology::diff_hosts(pair).findings;
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].code, "devices-apart");
  const FindingPrice price = finding_price(pair, findings[0]);
  EXPECT_EQ(price.kind, PriceKind::priced);
  const auto across = std::find_if(price.costs.begin(), price.costs.end(),
                                   [](const FindingCost& cost) { return cost.nodes == 2; });
  ASSERT_NE(across, price.costs.end());
  EXPECT_NEAR(*across->faulty.ring, *across->healthy.ring * 7 / 8, 3);
}

TEST(FindingCost, EveryKindOfFindingHasAPriceABoundOrSaysNotModeled) {
  for (const topology::FindingKind& kind : topology::finding_kinds()) {
    const auto& rules = price_rules();
    EXPECT_EQ(std::count_if(rules.begin(), rules.end(),
                            [&](const PriceRule& rule) { return rule.code == kind.code; }),
              1)
        << kind.code;
    const PriceRule& rule = price_rule(kind.code);
    if (rule.kind == PriceKind::not_modeled) {
      EXPECT_NE(rule.reason, "") << kind.code;
    }
    if (rule.kind == PriceKind::none) {
      EXPECT_EQ(kind.severity, topology::Severity::cosmetic) << kind.code;
    }
  }
}

TEST(FindingCost, PricesAreWhatTheDocumentSays) {
  std::string table = "| code | price | why not, or what it leaves out |\n|-|-|-|\n";
  for (const PriceRule& rule : price_rules()) {
    table += fmt::format("| `{}` | {} | {} |\n", rule.code,
                         rule.kind == PriceKind::not_modeled ? "not modeled" : price_kind_name(rule.kind),
                         rule.reason.empty() ? "–" : rule.reason);
  }
  EXPECT_THAT(read_file(source_folder() + "/docs/notes/findings.md"), testing::HasSubstr(table));
}

/// Two ports at each switch, as one card or beside one GPU.
topology::Host with_two_ports(double gigabits, double gigatransfers, bool one_card) {
  topology::Host host = topology::reference_host(*topology::find_reference_machine("hgx-a100"));
  host.sources.front() = {"test", "node", ""};
  if (!one_card) host = topology::without_devices(host, {gpu(0), gpu(2), gpu(4), gpu(6)});
  for (topology::PciDevice& pci : host.pci_devices) {
    pci.link_max.gigatransfers_per_second.value = gigatransfers;
    for (std::size_t i = 1; one_card && i < host.nics.size(); i += 2) {
      if (pci.address != *host.nics[i].pci_address.value) continue;
      pci.address = *host.nics[i - 1].pci_address.value;
      pci.address.back() = '1';
      host.nics[i].pci_address.value = pci.address;
    }
  }
  for (topology::Nic& nic : host.nics) nic.ports[0].gigabits_per_second.value = gigabits;
  return host;
}

/// At 100 Gb/s each, two of 200 behind Gen4 x16 measured 1.9 times as much (nccl#1303).
TEST(FindingCost, PortsThatExceedTheirSharedLinkHaveNoPrice) {
  for (const bool one_card : {true, false}) {
    const auto price = [one_card](double a, double b, double gigatransfers) {
      const topology::Host before = with_two_ports(a, gigatransfers, one_card);
      const topology::Host after = with_two_ports(b, gigatransfers, one_card);
      const topology::HostPair pair = topology::pair_hosts(before, after, false);
      return finding_price(pair, topology::diff_hosts(pair).findings.at(0));
    };
    for (const FindingPrice& none : {price(200, 100, 16), price(100, 200, 16), price(400, 200, 32)}) {
      EXPECT_EQ(none.kind, PriceKind::not_modeled) << one_card;
      EXPECT_TRUE(none.costs.empty() && none.advice.empty()) << one_card;
      EXPECT_THAT(none.reason, testing::HasSubstr("share a PCIe link")) << one_card;
    }
    EXPECT_FALSE(price(100, 50, 16).costs.empty()) << one_card;  // 25 GB/s fit into Gen4 x16
  }
}

TEST(FindingCost, TheAdviceIsToLeaveOutANicThatHalvesTheRing) {
  topology::Host healthy = topology::healthy_machine(*topology::find_reference_machine("hgx-h100"));
  const auto advice = [&](double part) {
    const topology::Host sick = with_nic_at(healthy, 2, part);
    const topology::HostPair pair = topology::pair_hosts(healthy, sick, false);
    return finding_price(pair, topology::diff_hosts(pair).findings.at(0)).advice;
  };
  EXPECT_THAT(advice(0.5), testing::HasSubstr("NCCL_IB_HCA=^=mlx5_2 on this node"));
  EXPECT_THAT(advice(0.25), testing::StartsWith("restart a job that was running"));
  EXPECT_EQ(advice(0.9), "");
}

}  // namespace
}  // namespace collbench::analysis::finding_cost_test
