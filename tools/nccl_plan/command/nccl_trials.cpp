#include "tools/nccl_plan/command/nccl_plan.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <map>

#include "base/units.hpp"
#include "tools/nccl_plan/simulated_run/ib_hca.hpp"

namespace collbench::program {
namespace {

constexpr std::size_t kMaxSingleNics = 4;  // of a node; more are left out at once only
constexpr double kSlower = 0.99;           // of the fastest

using NodesBySlowNics = std::map<std::vector<std::string>, std::vector<int>>;

/// Which nodes have which slow NICs, by name; without the nodes that have none or no others.
NodesBySlowNics slow_nics(const std::vector<std::string>& node_xml) {
  std::vector<std::vector<collectives::HcaPort>> ports;
  double fastest_port = 0;
  double fastest_pcie = 0;
  for (const std::string& xml : node_xml) {
    for (const collectives::HcaPort& port : ports.emplace_back(collectives::hca_ports(xml))) {
      fastest_port = std::max(fastest_port, port.gigabits);
      fastest_pcie = std::max(fastest_pcie, port.pcie_gigabits);
    }
  }
  const auto is_slow = [&](const collectives::HcaPort& port) {
    return (port.gigabits > 0 && port.gigabits < kSlower * fastest_port) ||
           (port.pcie_gigabits > 0 && port.pcie_gigabits < kSlower * fastest_pcie);
  };
  NodesBySlowNics found;
  for (std::size_t node = 0; node < ports.size(); ++node) {
    std::vector<std::string> names;
    for (const collectives::HcaPort& port : ports[node]) {
      if (is_slow(port))
        names.push_back(port.port == 1 ? port.name : fmt::format("{}:{}", port.name, port.port));
    }
    if (!names.empty() && names.size() < ports[node].size()) found[names].push_back(static_cast<int>(node));
  }
  return found;
}

std::string node_words(const std::vector<int>& nodes, std::size_t of) {
  if (nodes.size() == of) return "all nodes";
  if (nodes == std::vector{0}) return "the first node";
  if (nodes == std::vector{static_cast<int>(of) - 1}) return "the last node";
  return fmt::format("{} {} (counted from 0)", nodes.size() == 1 ? "node" : "nodes", number_ranges(nodes));
}

NcclTrialSetup without_nics(std::vector<std::string> node_xml, const std::vector<int>& nodes,
                            const std::vector<std::string>& names, const NcclSettings& settings) {
  const std::string list = fmt::format("^={}", fmt::join(names, ","));
  const std::string where = node_words(nodes, node_xml.size());
  for (const int node : nodes) {
    std::string& xml = node_xml[static_cast<std::size_t>(node)];
    xml = collectives::topology_with_hcas(xml, list);
  }
  return {fmt::format("NCCL_IB_HCA={} on {}", list, where), std::move(node_xml), settings};
}

bool has(const NcclSettings& settings, const std::string& name) {
  return std::ranges::any_of(settings, [&](const auto& each) { return each.first == name; });
}

}  // namespace

NcclSettings with_setting(NcclSettings settings, const std::string& name, const std::string& value) {
  std::erase_if(settings, [&](const auto& each) { return each.first == name; });
  settings.emplace_back(name, value);
  return settings;
}

std::vector<NcclTrialSetup> nccl_trials(const std::vector<std::string>& node_xml,
                                        const NcclSettings& settings) {
  std::vector<NcclTrialSetup> trials;
  if (!has(settings, "NCCL_IB_HCA")) {
    for (const auto& [names, nodes] : slow_nics(node_xml)) {
      if (names.size() > 1) trials.push_back(without_nics(node_xml, nodes, names, settings));
      if (names.size() > kMaxSingleNics) continue;
      for (const std::string& name : names) trials.push_back(without_nics(node_xml, nodes, {name}, settings));
    }
  }
  constexpr const char* kCrossNic = "NCCL_CROSS_NIC";
  if (has(settings, kCrossNic)) return trials;
  for (const char* value : {"0", "1"}) {  // 2 is what NCCL takes
    trials.push_back(
        {fmt::format("{}={}", kCrossNic, value), node_xml, with_setting(settings, kCrossNic, value)});
  }
  return trials;
}

}  // namespace collbench::program
