#include "analysis/attribution/mixed_fleet.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "analysis/probe/gpu_findings.hpp"

namespace collbench::analysis {
namespace {

std::string inventory_of(const ProbeRecord& probe) {
  std::vector<std::string> models;
  for (const ProbeGpu& gpu : probe.gpus) models.push_back(gpu.model);
  return gpu_inventory(models);
}

/// The nodes of a blame and of a cleared part as the whole fleet numbers them.
void renumber(Attribution& part, const std::vector<int>& nodes) {
  const auto whole = [&nodes](int& node) { node = nodes[slot_of(node)]; };
  for (Blame& blame : part.blames) std::for_each(blame.nodes.begin(), blame.nodes.end(), whole);
  for (NodeVerdict& verdict : part.nodes) whole(verdict.node);
  for (Cleared& cleared : part.cleared) {
    whole(cleared.node);
    if (cleared.peer) whole(*cleared.peer);
  }
}

}  // namespace

std::string gpus_of(const BurninRecord& record, int node) {
  const std::string& host = record.table.nodes[slot_of(node)];
  for (const ProbeRecord& probe : record.probes) {
    if (probe.host == host) return inventory_of(probe);
  }
  const auto listed = record.gpu_models.find(host);
  return listed == record.gpu_models.end() ? std::string() : gpu_inventory(listed->second);
}

std::string gpus_of(const BurninRecord& record, const std::vector<int>& nodes) {
  std::set<std::string> kinds;
  for (const int node : nodes) kinds.insert(gpus_of(record, node));
  return fmt::format("{}", fmt::join(kinds, " + "));
}

std::vector<std::vector<int>> nodes_alike(const BurninRecord& record) {
  std::vector<std::pair<std::string, std::vector<int>>> kinds;
  std::vector<int> unknown;
  for (int node = 0; std::cmp_less(node, record.table.nodes.size()); ++node) {
    const std::string gpus = gpus_of(record, node);
    if (gpus.empty()) {
      unknown.push_back(node);
      continue;
    }
    auto kind =
        std::find_if(kinds.begin(), kinds.end(), [&gpus](const auto& each) { return each.first == gpus; });
    if (kind == kinds.end()) kind = kinds.insert(kinds.end(), {gpus, {}});
    kind->second.push_back(node);
  }
  if (kinds.empty()) return {unknown};
  const auto most = std::max_element(kinds.begin(), kinds.end(), [](const auto& a, const auto& b) {
    return a.second.size() < b.second.size();
  });
  most->second.insert(most->second.end(), unknown.begin(), unknown.end());
  std::sort(most->second.begin(), most->second.end());
  std::vector<std::vector<int>> alike;
  for (auto& [gpus, nodes] : kinds) alike.push_back(std::move(nodes));
  std::sort(alike.begin(), alike.end());
  return alike;
}

BurninRecord part_of(const BurninRecord& record, const std::vector<int>& nodes) {
  std::map<int, int> slots;
  for (std::size_t slot = 0; slot < nodes.size(); ++slot) slots[nodes[slot]] = static_cast<int>(slot);
  const PairTable& table = record.table;
  BurninRecord part;
  part.bytes = record.bytes;
  part.expected = record.expected;
  part.table.rails = table.rails;
  part.table.adaptive_routing = table.adaptive_routing;
  for (const int node : nodes) {
    part.table.nodes.push_back(table.nodes[slot_of(node)]);
    if (!table.leaf_of_node.empty()) part.table.leaf_of_node.push_back(table.leaf_of_node[slot_of(node)]);
  }
  for (RailTime time : table.times) {
    if (!slots.contains(time.from) || !slots.contains(time.to)) continue;
    time.from = slots.at(time.from);
    time.to = slots.at(time.to);
    part.table.times.push_back(time);
  }
  for (PairFailure failure : record.failures) {
    if (!slots.contains(failure.a) || !slots.contains(failure.b)) continue;
    failure.a = slots.at(failure.a);
    failure.b = slots.at(failure.b);
    part.failures.push_back(std::move(failure));
  }
  return part;
}

Attribution attribute_alike(const BurninRecord& record, double expected_seconds) {
  const std::vector<std::vector<int>> kinds = nodes_alike(record);
  if (kinds.size() < 2) return attribute(record.table, expected_seconds);
  std::optional<Attribution> all;
  for (const std::vector<int>& nodes : kinds) {
    Attribution part = attribute(part_of(record, nodes).table, expected_seconds);
    renumber(part, nodes);
    const bool too_few = std::cmp_less(nodes.size(), kMinNodesOfPairs);
    if (too_few) {
      part.blind_below = 0;  // it judges nobody, and says so of each
      for (NodeVerdict& verdict : part.nodes) {
        verdict = {
            verdict.node, Bucket::not_tested,
            fmt::format("of its kind, {}, there {} here, and by pairs fewer than {} cannot be told apart",
                        gpus_of(record, verdict.node),
                        nodes.size() == 1 ? "is no other" : fmt::format("are {}", nodes.size()),
                        kMinNodesOfPairs)};
      }
    } else if (!part.doubt.empty()) {
      part.doubt = fmt::format("of the hosts with {}: {}", gpus_of(record, nodes.front()), part.doubt);
    }
    if (!all) {
      all = std::move(part);
      continue;
    }
    all->blames.insert(all->blames.end(), part.blames.begin(), part.blames.end());
    all->nodes.insert(all->nodes.end(), part.nodes.begin(), part.nodes.end());
    all->cleared.insert(all->cleared.end(), part.cleared.begin(), part.cleared.end());
    all->blind_below = std::max(all->blind_below, part.blind_below);
    if (!part.doubt.empty()) all->doubt += (all->doubt.empty() ? "" : "; ") + part.doubt;
  }
  std::sort(all->blames.begin(), all->blames.end(), [](const Blame& a, const Blame& b) {
    return std::tie(b.times_slower, a.evidence) < std::tie(a.times_slower, b.evidence);
  });
  std::sort(all->nodes.begin(), all->nodes.end(),
            [](const NodeVerdict& a, const NodeVerdict& b) { return a.node < b.node; });
  return *std::move(all);
}

SettledPairs settled_counts(const BurninRecord& record) {
  SettledPairs all{};
  for (const std::vector<int>& nodes : nodes_alike(record)) {
    const SettledPairs part = settled_pairs(part_of(record, nodes).table);
    all.repeated += part.repeated;
    all.eased += part.eased;
  }
  return all;
}

std::string gpu_difference(const BurninRecord& record) {
  std::map<std::string, std::vector<std::string>> hosts;
  for (int node = 0; std::cmp_less(node, record.table.nodes.size()); ++node)
    hosts[gpus_of(record, node)].push_back(record.table.nodes[slot_of(node)]);
  if (hosts.size() < 2) return {};
  std::vector<std::string> kinds;
  for (const auto& [gpus, names] : hosts)
    kinds.push_back(fmt::format("{} {}", fmt::join(names, ", "), gpus.empty() ? "none, or not known" : gpus));
  return fmt::format(
      "hosts differ in GPUs: {}. They are compared with alike ones only{}; pairs of two kinds are not "
      "measured",
      fmt::join(kinds, "; "),
      hosts.contains("") ? ", in pairs those whose GPUs are not known with the most frequent kind" : "");
}

}  // namespace collbench::analysis
