#pragma once
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analysis/models/nccl/gpu_cluster.hpp"
#include "analysis/models/nccl/nic_channels.hpp"
#include "analysis/verdict/finding_cost.hpp"
#include "topology/diff/topology_diff.hpp"
#include "topology/graph/lookup.hpp"

namespace collbench::analysis {

/// The costs that predict shows, too: of a job whose nodes all have the fault when it starts. One for each
/// number of nodes.
inline std::vector<FindingCost> as_on_every_node(const std::vector<FindingCost>& costs) {
  std::map<int, FindingCost> by_nodes;
  for (const FindingCost& cost : costs) {
    if (cost.when == CostCase::all_nodes) by_nodes[cost.nodes] = cost;
    if (cost.when == CostCase::at_start || cost.when == CostCase::any) by_nodes.emplace(cost.nodes, cost);
  }
  std::vector<FindingCost> found;
  for (const auto& [nodes, cost] : by_nodes) found.push_back(cost);
  return found;
}

inline constexpr std::array kWidths{8, 4, 2, 1};
inline constexpr std::array kPartsOfTheRate{0.95, 0.9, 0.875, 0.75, 0.5, 0.48, 0.25, 0.1};

/// A machine of a type with one element worse, and the price of that.
struct Damaged {
  topology::Host host;
  std::vector<FindingCost> costs;
  int channels = 0;  ///< of rings and trees that NCCL's search finds on it, of more than one node
  int nics_used = 0;

  [[nodiscard]] std::optional<double> ring(CostCase when, bool one_node = false) const {
    std::optional<double> rate;
    for (const FindingCost& cost : costs) {
      if ((cost.nodes == 1) != one_node) continue;
      if (cost.when == CostCase::any && !rate) rate = cost.faulty.ring;
      if (cost.when == when) rate = cost.faulty.ring;
    }
    return rate;
  }
};

inline std::string word(double part) { return fmt::format("{:g}", part); }

inline Damaged damaged(const topology::ReferenceMachine& machine, topology::Host host) {
  const topology::Host healthy = topology::reference_host(machine);
  Damaged result{std::move(host), {}, 0, 0};
  const topology::HostPair pair = topology::pair_hosts(healthy, result.host, true);
  const auto findings = topology::diff_hosts(pair).findings;
  EXPECT_EQ(findings.size(), 1U) << machine.name;
  if (findings.empty()) return result;
  result.costs = finding_costs(pair, findings.front());
  if (!result.host.nics.empty()) {
    const NicChannels plan = nic_channels(gpu_cluster(result.host, 2, 0, "damaged"));
    result.channels = plan.channels;
    result.nics_used = plan.nics;
  }
  return result;
}

inline topology::Host with_nic_at(const topology::Host& healthy, std::size_t nic, double part) {
  topology::Host host = healthy;
  *host.nics.at(nic).ports[0].gigabits_per_second.value *= part;
  return host;
}

inline topology::Host with_narrow_pcie(const topology::Host& healthy, const topology::Device& device,
                                       int width) {
  topology::Host host = healthy;
  for (topology::PciDevice& pci : host.pci_devices) {
    if (pci.address == topology::pci_address_of(healthy, device)) pci.link_now.width.value = width;
  }
  return host;
}

/// Each step of damage is at least as dear as the one before: always where NCCL has planned for healthy
/// links; at its start unless the search found another number of channels than the step before did
/// (docs/model.md).
inline void expect_monotone(const std::vector<Damaged>& steps, const std::string& what) {
  for (std::size_t i = 1; i < steps.size(); ++i) {
    const auto before = steps[i - 1].ring(CostCase::during_job);
    const auto after = steps[i].ring(CostCase::during_job);
    if (before && after) {
      EXPECT_LE(*after, *before * 1.0001) << what << " step " << i;
    }
    if (steps[i].channels != steps[i - 1].channels) continue;
    for (const CostCase when : {CostCase::at_start, CostCase::all_nodes}) {
      const auto was = steps[i - 1].ring(when);
      const auto is = steps[i].ring(when);
      if (was && is) {
        EXPECT_LE(*is, *was * 1.0001) << what << " step " << i;
      }
    }
  }
}

/// No plan carries more than its NICs can together, and one that was made for healthy NICs no more than their
/// number × the slow one.
inline void expect_no_less_than_the_slowest_costs(const topology::ReferenceMachine& machine,
                                                  const Damaged& step, double nic_rate_left,
                                                  const std::string& what) {
  const GpuCluster healthy = gpu_cluster(topology::reference_host(machine), 2, 0, "healthy");
  const int nodes = gpu_cluster(machine, 1, 0).nodes_per_domain;
  const double efficiency = traits(gpu_cluster(machine, 2, 0).transport).efficiency;
  const double one = std::min(healthy.nic_line_rate * efficiency,
                              healthy.nic_path > 0 ? healthy.nic_path : healthy.nic_line_rate);
  if (const auto late = step.ring(CostCase::during_job)) {
    EXPECT_LE(*late, nodes * healthy.nics * std::min(one, nic_rate_left) * 1.0001) << what;
  }
  for (const CostCase when : {CostCase::at_start, CostCase::all_nodes}) {
    const auto ring = step.ring(when);
    if (ring) {
      EXPECT_LE(*ring, nodes * ((healthy.nics - 1) * one + std::min(one, nic_rate_left)) * 1.0001) << what;
    }
  }
}

}  // namespace collbench::analysis
