#include "tools/burnin/attribution/mixed_fleet.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "analysis/probe/gpu_findings.hpp"

namespace collbench::analysis {
namespace {

std::vector<std::string> models_of(const BurninRecord& record, int node) {
  const std::string& host = record.table.nodes[slot_of(node)];
  std::vector<std::string> models;
  for (const ProbeRecord& probe : record.probes) {
    if (probe.host != host) continue;
    for (const ProbeGpu& gpu : probe.gpus) models.push_back(gpu.model);
    return models;
  }
  const auto listed = record.gpu_models.find(host);
  return listed == record.gpu_models.end() ? models : listed->second;
}

/// Their models, each once: a link is none the slower for a GPU fewer in the host.
std::set<std::string> kind_of(const BurninRecord& record, int node) {
  const std::vector<std::string> models = models_of(record, node);
  return {models.begin(), models.end()};
}

std::string kind_words(const std::set<std::string>& kind) {
  return kind.empty() ? "no GPUs, or unknown ones" : fmt::format("{}", fmt::join(kind, " and "));
}

/// The nodes of a blame and of a cleared part as the whole fleet numbers them.
void renumber(Attribution& part, const std::vector<int>& nodes) {
  const auto whole = [&nodes](int& node) { node = nodes[slot_of(node)]; };
  for (Blame& blame : part.blames) std::for_each(blame.nodes.begin(), blame.nodes.end(), whole);
  for (NodeVerdict& verdict : part.nodes) whole(verdict.node);
  for (std::vector<int>& group : part.groups) std::for_each(group.begin(), group.end(), whole);
  for (Cleared& cleared : part.cleared) {
    whole(cleared.node);
    if (cleared.peer) whole(*cleared.peer);
  }
}

}  // namespace

std::string gpus_of(const BurninRecord& record, int node) {
  const std::vector<std::string> models = models_of(record, node);
  return models.empty() ? std::string() : gpu_inventory(models);
}

std::string gpus_of(const BurninRecord& record, const std::vector<int>& nodes) {
  std::set<std::string> kinds;
  for (const int node : nodes) kinds.insert(gpus_of(record, node));
  return fmt::format("{}", fmt::join(kinds, " + "));
}

std::vector<std::vector<int>> nodes_alike(const BurninRecord& record) {
  std::map<std::string_view, std::set<std::string>> by_host;
  for (const auto& [host, models] : record.gpu_models) by_host[host] = {models.begin(), models.end()};
  for (const ProbeRecord& probe : record.probes) {
    std::set<std::string>& kind = by_host[probe.host];
    kind.clear();
    for (const ProbeGpu& gpu : probe.gpus) kind.insert(gpu.model);
  }
  std::map<std::set<std::string>, std::vector<int>> kinds;
  for (int node = 0; std::cmp_less(node, record.table.nodes.size()); ++node)
    kinds[by_host[record.table.nodes[slot_of(node)]]].push_back(node);
  std::vector<std::vector<int>> alike;
  for (auto& [kind, nodes] : kinds) alike.push_back(std::move(nodes));
  std::ranges::sort(alike);
  return alike;
}

std::vector<NodeVerdict> nodes_without_like(const BurninRecord& record) {
  const std::vector<std::vector<int>> kinds = nodes_alike(record);
  std::vector<NodeVerdict> verdicts;
  for (const std::vector<int>& nodes : kinds) {
    if (kinds.size() < 2 || std::cmp_greater_equal(nodes.size(), kMinNodesOfPairs)) continue;
    for (const int node : nodes) {
      verdicts.push_back({node, Bucket::not_tested,
                          fmt::format("only {} here with {}; pairs need at least {}",
                                      nodes.size() == 1 ? "host" : fmt::format("{} hosts", nodes.size()),
                                      kind_words(kind_of(record, node)), kMinNodesOfPairs)});
    }
  }
  return verdicts;
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
  for (std::size_t i = 0; i < table.times.size(); ++i) {
    RailTime time = table.times[i];
    if (!slots.contains(time.from) || !slots.contains(time.to)) continue;
    time.from = slots.at(time.from);
    time.to = slots.at(time.to);
    part.table.times.push_back(time);
    part.earlier_times += i < record.earlier_times ? 1 : 0;
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
  Attribution all;
  all.blind_below = 0;
  all.blind_below_by_node.assign(record.table.nodes.size(), 0);
  all.nodes = nodes_without_like(record);
  for (const std::vector<int>& nodes : kinds) {
    if (std::cmp_less(nodes.size(), kMinNodesOfPairs)) continue;
    Attribution part = attribute(part_of(record, nodes).table, expected_seconds);
    renumber(part, nodes);
    all.blames.insert(all.blames.end(), part.blames.begin(), part.blames.end());
    all.nodes.insert(all.nodes.end(), part.nodes.begin(), part.nodes.end());
    all.groups.insert(all.groups.end(), part.groups.begin(), part.groups.end());
    all.across_groups = std::max(all.across_groups, part.across_groups);
    all.cleared.insert(all.cleared.end(), part.cleared.begin(), part.cleared.end());
    all.blind_below = std::max(all.blind_below, part.blind_below);
    for (const int node : nodes) all.blind_below_by_node[slot_of(node)] = part.blind_below;
    if (part.doubt.empty()) continue;
    all.doubt += fmt::format("{}of the hosts with {}: {}", all.doubt.empty() ? "" : "; ",
                             kind_words(kind_of(record, nodes.front())), part.doubt);
  }
  std::ranges::sort(all.blames, is_worse);
  std::ranges::sort(all.nodes, {}, &NodeVerdict::node);
  return all;
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
    kinds.push_back(
        fmt::format("{}: {}", fmt::join(names, ", "), gpus.empty() ? "no GPUs, or unknown ones" : gpus));
  return fmt::format(
      "hosts differ in GPUs ({}): by themselves and in groups they are compared only with hosts that have as "
      "many of the same, and in pairs only with hosts that have the same models; pairs of different models "
      "are not compared",
      fmt::join(kinds, "; "));
}

}  // namespace collbench::analysis
